internal import CacheKey

/// Partials that nobody asks for.
extension Cache {
    /// Discards those that nobody asked for within a day, and those of a clock that was ahead: nobody knows
    /// when that was.
    func discardOldPartials(now: FileTime = .now) {
        guard directory.isInPlace else { return }
        for key in performing({ state in (state.restingPartials, []) }) {
            guard let time = directory.lastUse(ofPartial: key) else { continue }
            let age = now.unixTime - time.unixTime
            guard age >= PartialPolicy.lifetime || age < -60 else { continue }
            perform { $0.partialExpired(key) }
        }
    }
}

extension CacheState {
    /// The keys of all partials no download is about to use.
    var restingPartials: [CacheKey] { partials.keys.filter { flights[$0] == nil } }

    /// A partial has become too old, unless somebody asked for it just now.
    mutating func partialExpired(_ key: CacheKey) -> [Effect] {
        guard flights[key] == nil, partials.mayHold(key) else { return [] }
        partials.dirtyNames.insert(key)
        return [.discardPartial(key)]
    }
}
