/// The maximum number of downloads that run at once, overall or from one host. Some of these slots
/// are reserved.
///
/// If the limit is two or more, an eighth of the slots, but at least one, is reserved for clients
/// that have no download running, and for users who have fewer than another. Prefetches cannot take reserved slots and do not count as
/// running. So a new client's image need not wait for the end of a download that fills the other
/// slots.
struct ConcurrencyLimit: Sendable {
    let count: Int

    /// Slots for clients that have no download running, and for users who have fewer than another.
    let reserve: Int

    init(count: Int) {
        self.init(count: count, reserve: count < 2 ? 0 : max(1, count / 8))
    }

    private init(count: Int, reserve: Int) { (self.count, self.reserve) = (count, reserve) }

    /// A limit for a short time, of which nothing is reserved.
    static func temporary(_ count: Int) -> Self { Self(count: count, reserve: 0) }

    /// Slots for all clients.
    var shared: Int { count - reserve }
}
