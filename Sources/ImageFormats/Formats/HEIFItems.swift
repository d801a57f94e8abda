/// What the boxes inside `meta` say about the primary item's size and the data's extent.
///
/// Takes each box on its own, whatever follows; a malformed one is as good as absent.
struct HEIFItems: Sendable {
    /// More sizes, or properties of one item, are not kept: tiles share theirs.
    private static let limit = 64

    /// Offset after the last byte any item lies at.
    private(set) var dataEnd: UInt64 = 0
    /// Properties seen so far; the current one has this number.
    var propertyCount = 0
    private var primary: UInt64?
    private var primaryProperties: [Int] = []
    private var sizes: [(property: Int, size: PixelSize)] = []

    /// The size associated with the primary item, else the largest.
    var size: PixelSize? {
        let own = sizes.first { primaryProperties.contains($0.property) }
        return own?.size ?? sizes.map(\.size).max { $0.area < $1.area }
    }

    /// Takes the payload of a box; all four kinds start with a version and flags.
    mutating func take(_ type: FourCC, _ field: ByteField) {
        var reader = ByteReader(field)
        guard let version = reader.big(1), let flags = reader.big(3) else { return }
        switch type {
        case "pitm": primary = reader.big(version == 0 ? 2 : 4)
        case "ispe": takeSize(&reader)
        case "ipma": takeAssociations(&reader, version: version, flags: flags)
        case "iloc": dataEnd = max(dataEnd, HEIFLocations.end(&reader, version: version))
        default: break
        }
    }

    private mutating func takeSize(_ reader: inout ByteReader) {
        guard let width = reader.big(4), let height = reader.big(4), sizes.count < Self.limit,
            let size = PixelSize(width, height)
        else { return }
        sizes.append((propertyCount, size))
    }

    /// The item property associations: ISO/IEC 23008-12 §9.3.1.
    private mutating func takeAssociations(
        _ reader: inout ByteReader, version: UInt64, flags: UInt64
    ) {
        guard let primary, let entryCount = reader.big(4) else { return }
        let width = flags & 1 == 0 ? 1 : 2
        for _ in 0..<entryCount {
            guard let item = reader.big(version == 0 ? 2 : 4), let count = reader.big(1) else {
                return
            }
            for _ in 0..<count {
                guard let association = reader.big(width) else { return }
                guard item == primary, primaryProperties.count < Self.limit else { continue }
                // The highest bit says that the property is essential.
                primaryProperties.append(Int(association & (width == 1 ? 0x7F : 0x7FFF)))
            }
        }
    }
}
