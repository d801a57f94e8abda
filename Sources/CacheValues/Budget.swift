/// The limits of a cache, with the defaults filled in for its file system.
package struct Budget: Hashable, Sendable {
    /// The maximum of bytes held, as the disk counts them.
    package var maximumBytes: Int64
    /// Bytes of the file system that stay free.
    package var minimumFree: Int64
    /// The maximum number of entries.
    package var maximumEntries: Int
    /// The maximum of bytes of one image.
    package var maximumImageSize: Int64

    package init(
        maximumBytes: Int64, minimumFree: Int64, maximumEntries: Int, maximumImageSize: Int64
    ) {
        self.maximumBytes = maximumBytes
        self.minimumFree = minimumFree
        self.maximumEntries = maximumEntries
        self.maximumImageSize = maximumImageSize
    }

    package static let unlimited = Budget(
        maximumBytes: .max, minimumFree: 0, maximumEntries: .max, maximumImageSize: .max)

    /// Bytes reserved at a time for an image of unknown length.
    package static let step: Int64 = 256 << 10

    /// Bytes to reserve for an image of unknown length that is about to have `needed` bytes: whole
    /// steps, up to the largest image.
    package func step(for needed: Int64) -> Int64 {
        min(maximumImageSize, (needed + Self.step - 1) / Self.step * Self.step)
    }

    private static let block: Int64 = 4096
    /// More bytes than any disk can hold. It caps the length that an origin promises, so that sums
    /// of such lengths do not overflow.
    private static let largestImage: Int64 = 1 << 60

    /// The most that an image of `bytes` takes on the disk: whole blocks, and one block for its attributes.
    package static func allocation(for bytes: Int64) -> Int64 {
        (min(bytes, largestImage) + block - 1) / block * block + block
    }

    /// The level down to which entries are evicted: nine tenths of a limit, so that not every new image
    /// needs an eviction.
    package static func watermark<Number: BinaryInteger>(_ limit: Number) -> Number {
        limit - limit / 10
    }
}

extension Budget {
    /// Fills in the defaults.
    ///
    /// - Parameters:
    ///   - limits: the configured limits.
    ///   - size: bytes of the whole file system.
    package init(_ limits: Limits, fileSystem size: Int64) {
        self.init(
            maximumBytes: limits.maximumBytes ?? min(size / 10, 10 << 30),
            minimumFree: limits.minimumFree ?? min(size / 20, 1 << 30),
            maximumEntries: limits.maximumEntries ?? .max,
            maximumImageSize: limits.maximumImageSize)
    }
}
