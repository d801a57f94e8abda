import CacheDisk
import CacheModel
import CacheValues

/// An eviction in progress. It runs slice by slice.
struct Eviction: Sendable {
    let goal: EvictionGoal
    /// Whether the cache itself began it, to stay within its limits.
    var isOwn = false
    var removing = Removing()
    var completion: @Sendable (Removal, Failure?) -> Void = { _, _ in }
}
