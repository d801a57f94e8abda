// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// Why an entry was evicted.
public enum EvictionReason: String, WireChoice {
    /// The cache had more bytes or entries than it may have.
    case budget
    /// Less space was free on the disk than has to stay free, or the disk was full.
    case diskSpace
    /// Memory was short, or a call of Pressure said so.
    case pressure
    /// A call of Evict.
    case requested
    /// Nobody used the image for the longest time that the configuration permits.
    case unused
}
