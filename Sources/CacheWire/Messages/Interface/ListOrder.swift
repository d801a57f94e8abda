// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The order of the entries in List.
public enum ListOrder: String, WireChoice {
    /// Most recently used first.
    case recency
    /// Largest first.
    case size
    /// Oldest first.
    case age
    /// The next to be evicted first: those that were never used, then the least recently used,
    /// each with its rank. It is the order if no image is used, added or removed meanwhile.
    /// reverse does not apply.
    case eviction
}
