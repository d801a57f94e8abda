/// TIFF and BigTIFF: a directory somewhere in the file, pixels somewhere else.
///
/// TIFF 6.0 §2 and the BigTIFF design. Nothing says where the file ends, so all that can be told
/// is whether the first directory is there; dimensions are read from it.
struct TIFFWalker: ImageWalker {
    /// Byte order and width of offsets, as the first four bytes tell.
    struct Variant: Sendable {
        let isBigEndian: Bool
        let isBigTIFF: Bool

        init?(_ head: ByteField) {
            isBigEndian = head.holds("MM")
            isBigTIFF = head.holds([0x2B], at: isBigEndian ? 3 : 2)
            let version: UInt8 = isBigTIFF ? 0x2B : 0x2A
            let expected = isBigEndian ? [0x4D, 0x4D, 0, version] : [0x49, 0x49, version, 0]
            guard head.holds(expected) else { return nil }
        }
    }

    private enum Awaiting {
        case offset, count, entries, nothing
    }

    /// Real directories have a few dozen entries; a larger one is not gathered.
    private static let entryLimit: UInt64 = 512

    let mediaType: MediaType? = .tiff
    private(set) var size: PixelSize?
    private let variant: Variant
    private var awaiting = Awaiting.offset

    init(_ variant: Variant) {
        self.variant = variant
    }

    var firstStep: WalkStep { variant.isBigTIFF ? .read(8, after: 8) : .read(4, after: 4) }

    mutating func receive(_ field: ByteField) -> WalkStep {
        switch awaiting {
        case .offset:
            let directory = offset(field, at: 0)
            guard directory >= field.end else { return .rest }
            awaiting = .count
            return .read(variant.isBigTIFF ? 8 : 2, after: directory - field.end)
        case .count:
            return countKnown(
                variant.isBigTIFF ? offset(field, at: 0) : UInt64(short(field, at: 0)))
        case .entries, .nothing:
            awaiting = .nothing
            size = PixelSize(value(ofTag: 256, in: field) ?? 0, value(ofTag: 257, in: field) ?? 0)
            return .rest
        }
    }

    func verdict(at length: UInt64) -> WalkVerdict {
        awaiting == .nothing ? .unverifiable : .empty
    }

    private mutating func countKnown(_ count: UInt64) -> WalkStep {
        guard 1...Self.entryLimit ~= count else {
            awaiting = .nothing
            return .rest
        }
        awaiting = .entries
        return .read(Int(count) * entrySize)
    }

    private var entrySize: Int { variant.isBigTIFF ? 20 : 12 }

    /// The value of a tag of type `SHORT` (3) or `LONG` (4), which lies at the end of its entry.
    private func value(ofTag tag: UInt16, in field: ByteField) -> UInt32? {
        let entries = stride(from: 0, to: field.bytes.count, by: entrySize)
        guard let entry = entries.first(where: { short(field, at: $0) == tag }) else { return nil }
        let value = entry + (variant.isBigTIFF ? 12 : 8)
        switch short(field, at: entry + 2) {
        case 3: return UInt32(short(field, at: value))
        case 4: return long(field, at: value)
        default: return nil
        }
    }

    private func short(_ field: ByteField, at index: Int) -> UInt16 {
        let value = field.big(UInt16.self, at: index)
        return variant.isBigEndian ? value : value.byteSwapped
    }

    private func long(_ field: ByteField, at index: Int) -> UInt32 {
        let value = field.big(UInt32.self, at: index)
        return variant.isBigEndian ? value : value.byteSwapped
    }

    /// Eight bytes wide in BigTIFF, else four.
    private func offset(_ field: ByteField, at index: Int) -> UInt64 {
        guard variant.isBigTIFF else { return UInt64(long(field, at: index)) }
        let value = field.big(UInt64.self, at: index)
        return variant.isBigEndian ? value : value.byteSwapped
    }
}
