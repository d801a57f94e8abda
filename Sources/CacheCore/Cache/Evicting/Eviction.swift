import CacheDisk
import CacheFetching
import CacheValues

/// An eviction in progress. It runs slice by slice.
struct Eviction: Sendable {
    let goal: EvictionGoal
    /// The rest of the entries that were chosen to be evicted. `nil` if their order of use decides.
    var chosen: ArraySlice<ListedEntry>?
    /// Whether the cache itself began it, to stay within its limits.
    var isOwn = false
    var removing = Removing()
    var completion: @Sendable (Removal, Failure?) -> Void = { _, _ in }
}
