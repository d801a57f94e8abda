import Glibc

/// Bytes received and not yet taken, cut into messages at their terminators.
///
/// Its memory is its own: a long message grows in it without being copied each time. realloc(3).
struct InputBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    /// Bytes in memory.
    private(set) var held = 0
    /// Before this index all bytes were taken.
    private var start = 0
    /// Before this index there is no terminator.
    private var scanned = 0

    deinit {
        free(memory)
    }

    /// Bytes received and not yet taken.
    var count: Int { held - start }

    /// Lets `fill` write at the end, where it has room for at least so many bytes; it returns how many, or
    /// less than 0 for none, which is handed on.
    mutating func append(
        room least: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int
    ) -> Int {
        dropTaken()
        makeRoom(for: least)
        let count = fill(
            UnsafeMutableRawBufferPointer(start: memory! + held, count: capacity - held))
        held += max(count, 0)
        return count
    }

    private mutating func makeRoom(for bytes: Int) {
        guard capacity - held < bytes else { return }
        capacity = max(held + bytes, 2 * capacity)
        memory = realloc(memory, capacity)
        precondition(memory != nil, "no memory for a message of \(capacity) bytes")
    }

    /// Makes room of what was taken, where that is most of it.
    private mutating func dropTaken() {
        guard start > held / 2, let memory else { return }
        memmove(memory, memory + start, count)
        held -= start
        scanned -= start
        start = 0
    }

    /// Whether a whole message is there. memchr(3).
    mutating func hasMessage() -> Bool {
        guard let memory, scanned < held else { return false }
        let found = memchr(memory + scanned, Int32(Message.terminator), held - scanned)
        scanned = found.map { $0 - memory } ?? held
        return found != nil
    }

    /// Hands over the next message without its terminator, if it is all there; `nil` if it is not.
    mutating func takeMessage<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result? {
        guard hasMessage(), let memory else { return nil }
        defer {
            start = scanned + 1
            scanned = start
            if start == held { self = InputBuffer() }
        }
        return try body(UnsafeRawBufferPointer(start: memory + start, count: scanned - start))
    }
}
