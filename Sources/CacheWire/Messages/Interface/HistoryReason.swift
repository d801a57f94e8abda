// Made by .ci/interface from the files in etc/: change those, then run `make interface`.

/// Why it happened.
public enum HistoryReason: String, WireChoice {
    /// The cache had more bytes or entries than it may have.
    case budget
    /// Less space was free on the disk than has to stay free, or the disk was full.
    case diskSpace
    /// Memory was short, or a call of Pressure said so.
    case pressure
    /// A call of Evict or Remove.
    case requested
    /// Nobody used the image for the longest time that the configuration permits.
    case unused
    /// The origin no longer has the image.
    case gone
    /// The origin forbids keeping the image.
    case notStored
    /// Another program removed or replaced the file.
    case outside
    /// A call of Remove during the download.
    case cancelled
    /// The bytes came from the store that several machines share.
    case store
}
