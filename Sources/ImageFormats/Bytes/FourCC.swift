/// The four letters that name a chunk of PNG or RIFF, or a box or a brand of ISO-BMFF.
struct FourCC: RawRepresentable, Hashable, Sendable {
    /// The first letter is the most significant byte.
    let rawValue: UInt32

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    init(_ field: ByteField, at index: Int) {
        rawValue = field.big(UInt32.self, at: index)
    }

    /// Whether all four are printable ASCII, as names are in all these formats.
    var isPrintable: Bool {
        (0..<4).allSatisfy { 0x20...0x7E ~= UInt8(truncatingIfNeeded: rawValue >> ($0 * 8)) }
    }
}

extension FourCC: ExpressibleByStringLiteral {
    init(stringLiteral value: StaticString) {
        precondition(value.utf8CodeUnitCount == 4)
        rawValue = (0..<4).reduce(0) { $0 << 8 | UInt32(value.utf8Start[$1]) }
    }
}
