/// The header of one box of an ISO base media file: ISO/IEC 14496-12 §4.2.
struct BoxHeader: Sendable {
    let type: FourCC
    /// Offset of the header itself.
    let start: UInt64
    /// Offset of the first byte after the header.
    let payload: UInt64
    /// Offset after the last byte; `nil` if the box reaches to the end of the file.
    let end: UInt64?

    /// Bytes of payload, if the box says.
    var payloadLength: UInt64? { end.map { $0 - payload } }

    /// The step that passes over the box to the next header; nothing follows an open-ended one.
    var stepOver: WalkStep { payloadLength.map { .read(8, after: $0) } ?? .rest }

    /// Whether there is nothing between two offsets, or less than the header of a box takes.
    static func isMissing(from start: UInt64, to end: UInt64) -> Bool {
        start <= end && end - start < 8
    }
}

/// Puts the header of a box together, which is eight bytes or, with a large size, sixteen.
struct BoxHeaderReader: Sendable {
    enum Result {
        /// Eight more bytes are needed.
        case partial
        /// No box starts there.
        case invalid(at: UInt64)
        case header(BoxHeader)
    }

    /// The box whose large size is still to come.
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
