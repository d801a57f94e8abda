/// The disk space and the number of entries that a cache can use.
///
///     var limits = Limits()
///     limits.maximumBytes = 2 << 30
///     limits.maximumImageSize = 16 << 20
///
/// Bytes are counted as the disk counts them: in blocks of entries and partial downloads, including their
/// attributes. stat(2), `st_blocks`.
public struct Limits: Hashable, Sendable {
    /// The maximum of bytes held. `nil` stands for a tenth of the file system, but at most 10 GiB.
    public var maximumBytes: Int64?
    /// Bytes of the file system that the cache leaves free, even if other programs fill it. `nil` stands for
    /// a twentieth of the file system, but at most 1 GiB.
    public var minimumFree: Int64?
    /// The maximum number of entries. `nil` stands for any number.
    public var maximumEntries: Int?
    /// The maximum of bytes of one image.
    public var maximumImageSize: Int64 = 64 << 20
    /// The maximum of the time since the last use of an entry. `nil` stands for any time.
    public var maximumUnused: Duration?

    /// Creates the default limits.
    public init() {}
}
