/// The order in which entries are listed.
public enum ListOrder: String, Sendable {
    /// Most recently used first.
    case recency
    /// Largest first, by the bytes of the image.
    case size
    /// Longest in the cache first, by the time at which the bytes were fetched.
    case age
}
