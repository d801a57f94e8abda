public import CacheKey
public import CacheValues

/// The entries that a call is about, and the downloads. Without a test, all are.
public struct EntryChoice: Sendable {
    /// Whether an entry is meant, by what memory knows of it. With this test, no download is meant.
    public var byFacts: (@Sendable (ListedEntry) -> Bool)?
    /// Whether an image is meant, by its URL, which is read from the file of an entry.
    public var byURL: (@Sendable (String, CacheKey) -> Bool)?

    public init() {}
}
