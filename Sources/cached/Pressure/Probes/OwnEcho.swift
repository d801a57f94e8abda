/// The bytes that the daemon has written into a FIFO. It reads them back itself, and they do not mean pressure.
///
/// Discards exactly these bytes, once, wherever they are between the bytes of other writers.
struct OwnEcho: Sendable, Hashable {
    /// The bytes that have not come back yet.
    private var expected: [UInt8]
    /// The last bytes read, if they can be the beginning of the expected bytes.
    private var beginning: [UInt8] = []

    /// - Parameter written: the bytes, which were written in one piece.
    init(of written: [UInt8]) {
        expected = written
    }

    /// Bytes were read. Returns true if another program has written any of them.
    mutating func received(_ bytes: some Collection<UInt8>) -> Bool {
        guard !expected.isEmpty else { return !bytes.isEmpty }
        let read = beginning + bytes
        if read.firstRange(of: expected) != nil {
            defer { self = OwnEcho(of: []) }
            return read.count > expected.count
        }
        let kept = (0..<min(expected.count, read.count + 1)).last {
            read.suffix($0).elementsEqual(expected.prefix($0))
        }
        beginning = read.suffix(kept ?? 0)
        return read.count > beginning.count
    }
}
