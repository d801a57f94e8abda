/// How many downloads run at once, all together or from one host, and how many of these slots are reserved.
///
/// Of a limit of two or more, one slot in eight, and at least one, is reserved for clients that have no
/// download running. Prefetches neither take reserved slots nor count as running. So a newcomer's image
/// need not wait for the end of a download that fills the other slots.
struct ConcurrencyLimit: Sendable {
    let count: Int

    /// Slots for clients that have no download running.
    var reserve: Int { count < 2 ? 0 : max(1, count / 8) }

    /// Slots for everybody.
    var shared: Int { count - reserve }
}
