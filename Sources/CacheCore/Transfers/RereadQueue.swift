import CacheFetching

/// The downloads that read their partial again. They take turns, one piece each, so that one large partial does
/// not delay the others.
struct RereadQueue {
    private var ids: [FlightID] = []
    /// The ends of requests whose partial is not read to its end yet.
    var ended: [FlightID: RequestEnd] = [:]

    /// Bytes that are read at a time: a few milliseconds of work for any bytes.
    private static let pieceSize = 256 << 10

    var isEmpty: Bool { ids.isEmpty }

    mutating func append(_ id: FlightID) {
        ids.append(id)
    }

    mutating func next() -> FlightID? {
        ids.isEmpty ? nil : ids.removeFirst()
    }

    func readPiece(of download: Download) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: Self.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        download.reread(into: buffer)
    }
}
