/// Collects the size of the primary item, the changes to it before it is shown, and the end of the data from the boxes inside `meta`.
///
/// Each box is read on its own. A malformed box counts as absent.
struct HEIFItems: Sendable {
    /// The maximum of sizes, of changes, and of properties of one item, that are kept. The tiles of a large image share
    /// their properties, so this is enough.
    private static let limit = 64

    /// Offset of the byte after the last item. 0 if not every item states its end.
    private(set) var dataEnd: UInt64 = 0
    /// The number of properties so far, which is the number of the current one.
    var propertyCount = 0
    private var primary: UInt64?
    private var primaryProperties: [Int] = []
    private var sizes: [(property: Int, size: PixelSize)] = []
    private var changes: [(property: Int, change: Change)] = []
    /// The orientation of the only item, which `mini` has.
    private var minimizedOrientation: Orientation?

    /// A property that changes the pixels of an item for the screen.
    private enum Change {
        case crop(HEIFCrop)
        case quarters(UInt8)
        case mirror(UInt8)
    }

    /// How the primary item is turned. The standard demands that it is rotated before it is mirrored (MIAF, ISO/IEC
    /// 23000-22 §7.3.6.7), and so decoders do.
    var orientation: Orientation {
        let quarters = first { if case .quarters(let number) = $0 { number } else { nil } }
        let mirror = first { if case .mirror(let axis) = $0 { axis } else { nil } }
        return minimizedOrientation ?? Orientation(quarters: quarters, mirror: mirror)
    }

    /// The size of the primary item on the screen: cropped, and then turned.
    ///
    /// - Parameter fromCorner: see ``HEIFCrop/size(of:fromCorner:)``.
    func shownSize(fromCorner: Bool) -> PixelSize? {
        let crop = first { if case .crop(let crop) = $0 { crop } else { nil } }
        return size.map { crop?.size(of: $0, fromCorner: fromCorner) ?? $0 }?
            .turned(by: orientation)
    }

    /// The first change of one kind that is associated with the primary item.
    private func first<Value>(_ kind: (Change) -> Value?) -> Value? {
        for (property, change) in changes where primaryProperties.contains(property) {
            if let value = kind(change) { return value }
        }
        return nil
    }

    /// The size that is associated with the primary item, or the largest size if none is.
    var size: PixelSize? {
        let own = sizes.first { primaryProperties.contains($0.property) }
        return own?.size ?? sizes.map(\.size).max { $0.area < $1.area }
    }

    /// Reads the payload of a box.
    mutating func take(_ type: FourCC, _ field: ByteField) {
        switch type {
        case "clap": add(HEIFCrop(field).map(Change.crop))
        case "irot": add(.quarters(field.bytes[0]))
        case "imir": add(.mirror(field.bytes[0]))
        default: takeFull(type, field)
        }
    }

    private mutating func add(_ change: Change?) {
        guard let change, changes.count < Self.limit else { return }
        changes.append((propertyCount, change))
    }

    /// Reads the payload of a box that starts with a version and flags.
    private mutating func takeFull(_ type: FourCC, _ field: ByteField) {
        var reader = ByteReader(field)
        guard let version = reader.big(1), let flags = reader.big(3) else { return }
        switch type {
        case "pitm": primary = reader.big(version == 0 ? 2 : 4)
        case "ispe": takeSize(&reader)
        case "ipma": takeAssociations(&reader, version: version, flags: flags)
        case "iloc": dataEnd = HEIFLocations.end(&reader, version: version) ?? 0
        default: break
        }
    }

    /// Reads the first bytes of `mini`, which has the only item and its size.
    mutating func takeMinimized(_ field: ByteField) {
        guard let size = HEIFMinimized.size(field) else { return }
        sizes.append((propertyCount, size))
        minimizedOrientation = HEIFMinimized.orientation(field)
    }

    private mutating func takeSize(_ reader: inout ByteReader) {
        guard let width = reader.big(4), let height = reader.big(4), sizes.count < Self.limit,
            let size = PixelSize(width, height)
        else { return }
        sizes.append((propertyCount, size))
    }

    /// Reads the item property associations: ISO/IEC 23008-12 §9.3.1.
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
                // The highest bit marks the property as essential.
                primaryProperties.append(Int(association & (width == 1 ? 0x7F : 0x7FFF)))
            }
        }
    }
}
