import Glibc

/// Bytes received and not yet taken, cut into messages at their terminators.
struct InputBuffer {
    private var bytes: [UInt8] = []
    /// Before this index all bytes were taken.
    private var start = 0
    /// Before this index there is no terminator.
    private var scanned = 0

    /// Bytes received and not yet taken.
    var count: Int { bytes.count - start }

    /// Bytes in memory.
    var held: Int { bytes.count }

    /// Lets `fill` write at most `limit` bytes at the end; it returns how many, or less than 0 for
    /// none, which is handed on.
    mutating func append(
        upTo limit: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int
    ) -> Int {
        dropTaken()
        return withUnsafeTemporaryAllocation(byteCount: limit, alignment: 16) { room in
            let count = fill(room)
            if count > 0 {
                bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: room[..<count]))
            }
            return count
        }
    }

    /// Makes room of what was taken, where that is most of it.
    private mutating func dropTaken() {
        guard start > held / 2 else { return }
        bytes.removeFirst(start)
        scanned -= start
        start = 0
    }

    /// Whether a whole message is there. memchr(3).
    mutating func hasMessage() -> Bool {
        let found = bytes.withUnsafeBytes { buffer -> Int? in
            guard let base = buffer.baseAddress, scanned < buffer.count else { return nil }
            return memchr(base + scanned, Int32(Message.terminator), buffer.count - scanned)
                .map { UnsafeRawPointer($0) - base }
        }
        scanned = found ?? bytes.count
        return found != nil
    }

    /// The next message without its terminator, if it is all there.
    mutating func nextMessage() -> ArraySlice<UInt8>? {
        guard hasMessage() else { return nil }
        let message = bytes[start..<scanned]
        start = scanned + 1
        scanned = start
        if start == bytes.count {
            self = InputBuffer()
        }
        return message
    }
}
