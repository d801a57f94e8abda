/// Assembles the header of a box from its eight bytes, or from sixteen if the box has a large size.
struct BoxHeaderReader: Sendable {
    enum Result {
        /// The header continues in the next eight bytes.
        case partial
        /// The bytes at this offset are not the header of a box.
        case invalid(at: UInt64)
        case header(BoxHeader)
    }

    /// The box whose large size is in the next eight bytes.
    private var pending: (type: FourCC, start: UInt64)?

    mutating func receive(_ field: ByteField) -> Result {
        if let (type, start) = pending {
            pending = nil
            return Self.header(type, start, size: field.big(UInt64.self, at: 0), at: field.end)
        }
        let type = FourCC(field, at: 4)
        switch field.big(UInt32.self, at: 0) {
        case _ where !type.isPrintable:
            return .invalid(at: field.offset)
        case 0:
            return .header(BoxHeader(type: type, start: field.offset, payload: field.end, end: nil))
        case 1:
            pending = (type, field.offset)
            return .partial
        case let size:
            return Self.header(type, field.offset, size: UInt64(size), at: field.end)
        }
    }

    private static func header(
        _ type: FourCC, _ start: UInt64, size: UInt64, at payload: UInt64
    ) -> Result {
        let end = start.plusClamped(size)
        guard end >= payload else { return .invalid(at: start) }
        return .header(BoxHeader(type: type, start: start, payload: payload, end: end))
    }
}
