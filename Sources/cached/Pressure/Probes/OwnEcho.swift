/// What the daemon wrote into a FIFO comes back when it reads: that is not pressure.
///
/// Discards exactly those bytes, once, wherever they stand among those of others.
struct OwnEcho: Sendable, Hashable {
    /// What has not come back yet.
    private var expected: [UInt8]
    /// The last bytes read, as far as they may be the beginning of the echo.
    private var beginning: [UInt8] = []

    /// - Parameter written: what was written in one piece.
    init(of written: [UInt8]) {
        expected = written
    }

    /// Bytes were read; true if somebody else wrote any of them.
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
