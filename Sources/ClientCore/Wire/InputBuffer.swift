import CClient

/// Buffers received bytes and splits them into messages, each of which ends with a NUL (varlink.org, "Protocol").
///
/// The buffer manages its own memory, so that a long message can grow without being copied each time. realloc(3).
package struct InputBuffer: ~Copyable {
    private var memory: UnsafeMutableRawPointer?
    private var capacity = 0
    /// The number of bytes in memory, including those that were taken.
    private(set) var held = 0
    /// The index of the first byte that was not taken.
    private var start = 0
    /// There is no terminator before this index.
    private var scanned = 0

    package init() {}

    deinit {
        free(memory)
    }

    /// The number of bytes that were received and not taken.
    package var count: Int { held - start }

    /// Lets `fill` write at the end of the buffer.
    ///
    /// - Parameters:
    ///   - least: the least number of bytes for which to provide room.
    ///   - fill: writes bytes and returns how many; less than 0 for an error.
    /// - Returns: the result of `fill`.
    package mutating func append(
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
        precondition(memory != nil, "no memory for a message")
    }

    /// Removes the taken bytes if they are more than half of the memory.
    private mutating func dropTaken() {
        guard start > held / 2, let memory else { return }
        memmove(memory, memory + start, count)
        held -= start
        scanned -= start
        start = 0
    }

    /// Whether a complete message has arrived. memchr(3).
    package mutating func hasMessage() -> Bool {
        guard let memory, scanned < held else { return false }
        let found = memchr(memory + scanned, 0, held - scanned)
        scanned = found.map { $0 - memory } ?? held
        return found != nil
    }

    /// Passes the next message, without its terminator, to `body`. Returns `nil` if no complete
    /// message has arrived.
    package mutating func takeMessage<Result, Failure>(
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
