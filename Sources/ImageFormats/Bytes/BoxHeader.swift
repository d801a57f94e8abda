/// The header of one box of an ISO base media file: ISO/IEC 14496-12 §4.2.
struct BoxHeader: Sendable {
    let type: FourCC
    /// Offset of the header itself.
    let start: UInt64
    /// Offset of the first byte after the header.
    let payload: UInt64
    /// Offset of the byte after the box. `nil` if the box reaches to the end of the file.
    let end: UInt64?

    /// Bytes of payload. `nil` if the box reaches to the end of the file.
    var payloadLength: UInt64? { end.map { $0 - payload } }

    /// The step that skips the payload and reads the next header. No box follows one that reaches to the end
    /// of the file.
    var stepOver: WalkStep { payloadLength.map { .read(8, after: $0) } ?? .rest }

    /// Whether the bytes between two offsets are too few for the header of a box.
    static func isMissing(from start: UInt64, to end: UInt64) -> Bool {
        start <= end && end - start < 8
    }
}
