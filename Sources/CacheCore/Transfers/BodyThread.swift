import CacheFetching
internal import Synchronization

/// Hashes, inspects, reads and writes the bytes of large images on a thread of its own, in the order of the calls. So the
/// thread that receives never waits for a hash, and not for the disk while the pieces last.
final class BodyThread: Sendable {
    let pieces = BodyPieces()
    private let jobs = Inbox<@Sendable () -> Void>()
    private let thread: NamedThread
    /// Called after each piece.
    private let advanced: @Sendable (FlightID) -> Void

    init(advanced: @escaping @Sendable (FlightID) -> Void) {
        self.advanced = advanced
        thread = NamedThread("bytes") { [jobs] in
            while let taken = jobs.takeAll() {
                for job in taken { job() }
            }
        }
    }

    func write(_ piece: BodyPiece, by writer: BodyWriter, makeRoom: @escaping @Sendable () -> Bool)
    {
        jobs.put { [pieces, advanced] in
            writer.write(piece.bytes, makeRoom: makeRoom)
            pieces.giveBack(piece)
            advanced(writer.id)
        }
    }

    /// Reads a partial up to `end`. Other downloads have their turn after each piece.
    func read(by writer: BodyWriter, upTo end: Int64) {
        jobs.put { [self] in
            let piece = pieces.take()
            let hasMore = writer.read(upTo: end, into: piece.space)
            pieces.giveBack(piece)
            if hasMore { read(by: writer, upTo: end) }
            advanced(writer.id)
        }
    }

    /// Returns once all pieces are written that were handed over until now.
    func wait() {
        let latch = Latch()
        jobs.put { latch.open() }
        latch.wait()
    }

    /// Ends the thread. Nothing is handed over any more.
    func finish() {
        jobs.close()
        thread.join()
    }
}

/// A piece of an image between the thread that receives and the one that writes.
final class BodyPiece: @unchecked Sendable {
    // Unchecked: it is passed from thread to thread.
    static let size = 256 << 10
    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 64)
    private var count = 0

    deinit { space.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: space[..<count]) }
    var isFull: Bool { count == space.count }

    /// Adds as many bytes as fit. Returns the others.
    func fill(_ more: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        let taken = min(more.count, space.count - count)
        UnsafeMutableRawBufferPointer(rebasing: space[count...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: more[..<taken]))
        count += taken
        return UnsafeRawBufferPointer(rebasing: more[taken...])
    }

    fileprivate func clear() { count = 0 }
}

/// The pieces of all downloads. Those that were used last are used next, because the processor still has them.
final class BodyPieces: Sendable {
    /// Downloads pause while so many pieces are in use. A disk that is slower than the network takes no more memory.
    static let limit = 16

    private struct State {
        var free: [BodyPiece] = []
        var used = 0
    }

    private let state = Mutex(State())

    /// Whether a download may go on.
    var areLeft: Bool { state.withLock { $0.used < Self.limit } }
    /// Whether downloads that have paused continue: with half of the pieces, so that they seldom pause.
    var areMany: Bool { state.withLock { $0.used <= Self.limit / 2 } }

    func take() -> BodyPiece {
        state.withLock {
            $0.used += 1
            return $0.free.popLast() ?? BodyPiece()
        }
    }

    func giveBack(_ piece: BodyPiece) {
        piece.clear()
        state.withLock {
            $0.used -= 1
            $0.free.append(piece)
        }
    }

    /// Frees the memory of those that nobody uses.
    func shrink() { state.withLock { $0.free = [] } }
}
