/// What a cache may use of the disk. Bytes are those the disk counts: blocks of entries and partials,
/// attributes included. stat(2), `st_blocks`.
public struct Limits: Hashable, Sendable {
    /// Bytes held, at most; `nil` for the smaller of a tenth of the file system and 10 GiB.
    public var maximumBytes: Int64?
    /// Bytes of the file system that stay free, whoever writes to it; `nil` for the smaller of a
    /// twentieth of it and 1 GiB.
    public var minimumFree: Int64?
    /// Entries held, at most; `nil` for any number.
    public var maximumEntries: Int?
    /// Bytes one image may have.
    public var maximumImageSize: Int64 = 64 << 20

    public init() {}
}

/// Limits with the defaults filled in.
struct Budget: Hashable, Sendable {
    var maximumBytes: Int64
    var minimumFree: Int64
    var maximumEntries: Int
    var maximumImageSize: Int64

    static let unlimited = Budget(
        maximumBytes: .max, minimumFree: 0, maximumEntries: .max, maximumImageSize: .max)

    /// Bytes set aside at a time for an image whose length is not known.
    static let step: Int64 = 256 << 10
    private static let block: Int64 = 4096
    /// Whatever length an origin promises, this is more than there is room for, and sums of it are numbers.
    private static let largestImage: Int64 = 1 << 60

    /// What an image of `bytes` takes on the disk at most: whole blocks, and one for its attributes.
    static func allocation(for bytes: Int64) -> Int64 {
        (min(bytes, largestImage) + block - 1) / block * block + block
    }

    /// Eviction goes on to nine tenths of what may be held, so that it is not needed at every image.
    static func watermark<Number: BinaryInteger>(_ limit: Number) -> Number { limit - limit / 10 }
}

extension Budget {
    /// - Parameter size: bytes of the whole file system.
    init(_ limits: Limits, fileSystem size: Int64) {
        self.init(
            maximumBytes: limits.maximumBytes ?? min(size / 10, 10 << 30),
            minimumFree: limits.minimumFree ?? min(size / 20, 1 << 30),
            maximumEntries: limits.maximumEntries ?? .max,
            maximumImageSize: limits.maximumImageSize)
    }
}
