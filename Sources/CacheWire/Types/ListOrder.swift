/// The order in which `List` walks the entries.
public enum ListOrder: String, Codable, Sendable, Hashable, CaseIterable {
    /// Last used first.
    case recency
    /// Largest first.
    case size
    /// Longest in the cache first.
    case age
}
