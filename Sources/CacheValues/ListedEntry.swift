public import CacheKey

/// One entry of a listing.
public struct ListedEntry: Sendable {
    public let key: CacheKey
    public let facts: EntryFacts

    package init(key: CacheKey, facts: EntryFacts) {
        (self.key, self.facts) = (key, facts)
    }
}
