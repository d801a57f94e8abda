internal import CacheKey

/// One waiter's place in the queue for one download; `nil` stands for the daemon's own wait.
struct Ticket: Hashable, Sendable {
    let key: CacheKey
    let waiter: WaiterID?
}
