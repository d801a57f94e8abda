import CacheFetching
public import CacheKey
import CacheModel

/// The store that several machines share.
extension Cache {
    /// The settings of the store. `nil` without one.
    public var storeSettings: StoreSettings? { store?.settings }

    /// Deletes images from the store, in the background. Returns `false` if there is no store that may be written to.
    public func deleteFromStore(_ keys: [CacheKey]) -> Bool {
        run { $0.fetching.deletionAsked(keys, &$1) }
    }

    /// Asks the store, and puts an object there for the moment. Blocks for some seconds at most. `nil` without a store.
    public func checkStore() -> StoreCheck? {
        guard let store else { return nil }
        var check = StoreCheck(store.settings)
        do {
            let probe = try StoreProbe(store.access, settings.transfers.forStore)
            probe.run(&check)
        } catch {
            check.problem = "\(error)"
        }
        // If a person has repaired the store, it is used at once.
        if check.problem == nil { run { state, _ in state.fetching.storeMayBeInReach() } }
        return check
    }
}
