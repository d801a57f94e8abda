package import CacheKey
package import CacheValues

/// Entries that must not be stored (`no-store`), and the time at which each is removed. Until then
/// the callers that waited for such an entry have time to open it.
package struct NoStoreGrace: Sendable {
    private var ends: [CacheKey: UnixTime] = [:]

    package var isEmpty: Bool { ends.isEmpty }

    package var all: some Collection<(key: CacheKey, value: UnixTime)> { ends }

    package func contains(_ key: CacheKey) -> Bool { ends.index(forKey: key) != nil }

    /// An entry was found or published. If it already has a time, the later one counts.
    ///
    /// - Parameter removeAt: `nil` for an entry that can be stored.
    package mutating func note(_ key: CacheKey, _ removeAt: UnixTime?) {
        guard removeAt != nil || !ends.isEmpty else { return }
        ends[key] = removeAt.map { max($0, ends[key] ?? $0) }
    }

    /// Gives an entry more time.
    mutating func extend(_ key: CacheKey, to end: UnixTime) { ends[key] = end }

    package mutating func remove(_ key: CacheKey) { ends[key] = nil }
}
