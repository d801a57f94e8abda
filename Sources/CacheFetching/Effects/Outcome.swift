public import CacheKey
public import CacheValues

/// The end of a caller's request. Every image that is not in `failures` is cached.
public struct Outcome: Sendable {
    public let waiter: WaiterID
    public let failures: [CacheKey: Failure]
}
