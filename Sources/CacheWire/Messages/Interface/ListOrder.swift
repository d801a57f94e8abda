// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// The order of the entries in List.
public enum ListOrder: String, WireChoice {
    /// Most recently used first.
    case recency
    /// Largest first.
    case size
    /// Oldest first.
    case age
}
