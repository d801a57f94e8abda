import CacheValues

/// How large an entry is.
struct Measures: Hashable {
    /// Bytes of the image.
    var size: Int64 = 0
    /// Disk blocks of 512 bytes, attributes included.
    var blocks: Int64 = 0
    /// Pixels as shown; zero when unknown.
    var width: UInt32 = 0
    var height: UInt32 = 0

    /// Bytes that the disk holds for the file.
    var allocated: Int64 { blocks * 512 }
}

extension Measures {
    init(_ facts: EntryFacts) {
        self.init(
            size: facts.size, blocks: facts.allocated / 512,
            width: UInt32(clamping: facts.width ?? 0), height: UInt32(clamping: facts.height ?? 0))
    }
}

/// The measures of a usual entry, in ten bytes: less than 4 GiB, with at most 65,535 pixels on a side.
struct PackedMeasures {
    private let size: UInt32
    /// The blocks beyond those that the bytes of the image need.
    private let furtherBlocks: Int16
    private let width: UInt16
    private let height: UInt16

    /// Measures that are too large lose bits.
    init(_ measures: Measures) {
        size = UInt32(truncatingIfNeeded: measures.size)
        furtherBlocks = Int16(truncatingIfNeeded: measures.blocks - Self.blocks(measures.size))
        width = UInt16(truncatingIfNeeded: measures.width)
        height = UInt16(truncatingIfNeeded: measures.height)
    }

    var measures: Measures {
        let size = Int64(size)
        return Measures(
            size: size, blocks: Self.blocks(size) + Int64(furtherBlocks), width: UInt32(width),
            height: UInt32(height))
    }

    private static func blocks(_ size: Int64) -> Int64 { size / 512 + 1 }
}
