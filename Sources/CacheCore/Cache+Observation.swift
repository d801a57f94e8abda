public import CacheKey

/// Following what changes: which keys there are, which of them changed, and how to call them.
extension Cache {
    /// Turns the observation of changes on or off.
    public func observeChanges(_ isObserved: Bool) {
        run { state, _ in state.changes.isObserved = isObserved }
    }

    /// The keys of which something changed since the last call; empty unless observed. What to tell of them
    /// says ``lookup(_:_:)``, `.taken`.
    public func takeChanges() -> Set<CacheKey> {
        drainWatch()
        return run { state, _ in state.changes.take() }
    }

    /// Everything that is on its way, in the order the downloads began.
    public func keysInFlight() -> [CacheKey] {
        let flights = read { state in
            state.downloads.all.map { ($0.value.id.rawValue, $0.key) }
        }
        return flights.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The entries at some of the places where entries may be, in no particular order: `position` starts at
    /// 0 and moves on; the end is `false`. One that is held all the while is met once.
    public func entryKeys(_ position: inout Int, places: Int) -> (keys: [CacheKey], hasMore: Bool) {
        read { state in
            var keys: [CacheKey] = []
            let hasMore = state.catalog.index.readStretch(&position, places: places) { key, _ in
                keys.append(key)
            }
            return (keys, hasMore)
        }
    }

    /// What a key is the name of; `nil` where nobody knows. Reads an attribute of the entry's file, unless
    /// it is on its way or has failed.
    public func url(of key: CacheKey) -> String? {
        let known = read { $0.downloads[key]?.url ?? $0.failures.url(of: key) }
        return known?.string ?? details(of: key).url
    }
}
