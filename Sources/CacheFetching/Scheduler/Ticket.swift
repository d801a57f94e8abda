internal import CacheKey

/// One waiter's position in the queue for one download. `nil` stands for the daemon itself.
struct Ticket: Hashable, Sendable {
    let key: CacheKey
    let waiter: WaiterID?
}
