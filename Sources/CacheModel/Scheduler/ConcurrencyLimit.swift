/// The maximum number of downloads that run at once, overall or from one host. Some of these slots
/// are reserved.
///
/// If the limit is two or more, an eighth of the slots, but at least one, is reserved for clients
/// that have no download running. Prefetches cannot take reserved slots and do not count as
/// running. So a new client's image need not wait for the end of a download that fills the other
/// slots.
struct ConcurrencyLimit: Sendable {
    let count: Int

    /// Slots for clients that have no download running.
    var reserve: Int { count < 2 ? 0 : max(1, count / 8) }

    /// Slots for all clients.
    var shared: Int { count - reserve }
}
