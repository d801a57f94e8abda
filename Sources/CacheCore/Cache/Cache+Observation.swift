import CacheDisk
import CacheFetching
public import CacheKey
import CacheModel

/// Observing the cache: its keys, the changes of their states, and their URLs.
extension Cache {
    /// Turns the observation of changes on or off.
    public func observeChanges(_ isObserved: Bool) {
        run { state, _ in state.fetching.observed(isObserved) }
    }

    /// Returns the keys whose state changed since the last call; none unless changes are observed.
    /// ``lookup(_:_:)`` with `.taken` returns the states to report for them.
    public func takeChanges() -> Set<CacheKey> {
        drainWatch()
        return run { state, _ in state.fetching.takeChanges() }
    }

    /// Returns the keys of ``takeChanges()`` whose downloads have ended, and leaves the others.
    public func takeEnds() -> Set<CacheKey> {
        run { state, _ in state.fetching.takeEnds() }
    }

    /// Returns the keys of all downloads, in the order in which the downloads began.
    public func keysInFlight() -> [CacheKey] {
        let flights = read { state in
            state.fetching.downloads.all.map { ($0.value.id.rawValue, $0.key) }
        }
        return flights.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// Returns the keys of the entries in the next `places` of the index's table, in no particular order.
    /// `position` starts at 0 and moves on; `hasMore` is `false` at the end. An entry that stays in the cache
    /// during all calls appears once.
    public func entryKeys(_ position: inout Int, places: Int) -> (keys: [CacheKey], hasMore: Bool) {
        read { state in
            var keys: [CacheKey] = []
            let hasMore = state.disk.index.readStretch(&position, places: places) { key, _ in
                keys.append(key)
            }
            return (keys, hasMore)
        }
    }

    /// Returns the URL of a key; `nil` if it is not known. Reads an attribute of the entry's file, unless the
    /// image is being downloaded or its download has failed.
    public func url(of key: CacheKey) -> String? {
        let known = read { $0.fetching.downloads[key]?.name ?? $0.fetching.failures.url(of: key) }
        return known?.string ?? details(of: key).url
    }
}
