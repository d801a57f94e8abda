/// The order of the entries in `List`.
public enum ListOrder: String, Codable, Sendable, Hashable, CaseIterable {
    /// Most recently used first.
    case recency
    /// Largest first.
    case size
    /// Oldest first.
    case age
}
