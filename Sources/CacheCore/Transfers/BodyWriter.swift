import CacheFetching
import CacheValues
import ImageFormats
internal import Synchronization
internal import SystemPackage

/// The way of one large image to its file. Its functions run on the ``BodyThread``, except that the download may ask for
/// the digest, and leave the file, while that thread has nothing of it to do.
final class BodyWriter: @unchecked Sendable {
    // Unchecked: see above. The progress alone is shared.

    /// What has been done so far.
    struct Progress: Sendable {
        /// Bytes of a partial that were read.
        var read: Int64 = 0
        /// Bytes that were added to the file.
        var written: Int64 = 0
        /// What the bytes show.
        var inspector: ImageInspector
        var failure: Errno?
        /// Whether the partial is shorter than it was, or can't be read.
        var isUnreadable = false
        fileprivate var isCancelled = false
    }

    let id: FlightID
    private var file: StagingFile?
    private var digest = SHA256()
    private var inspector: ImageInspector
    /// Bytes at the beginning that the inspector has seen.
    private var inspected: Int
    private let state: Mutex<Progress>

    init(
        _ id: FlightID, _ file: StagingFile, _ inspector: ImageInspector = ImageInspector(),
        after inspected: Int = 0
    ) {
        (self.id, self.file, self.inspector, self.inspected) = (id, file, inspector, inspected)
        state = Mutex(Progress(inspector: inspector))
    }

    var progress: Progress { state.withLock { $0 } }

    /// Ends the reading of a partial, and makes nothing of the pieces that come.
    func cancel() { state.withLock { $0.isCancelled = true } }

    /// The file can be closed by others from now on.
    func leaveFile() { file = nil }

    /// The digest of all bytes.
    func finishDigest() -> ContentDigest { digest.finish() }

    func write(_ bytes: UnsafeRawBufferPointer, makeRoom: () -> Bool) {
        guard state.withLock({ $0.failure == nil && !$0.isCancelled }), let file else { return }
        do {
            try file.append(bytes, makeRoom: makeRoom)
            take(bytes)
            state.withLock { $0.written += Int64(bytes.count) }
        } catch {
            state.withLock { $0.failure = error }
        }
    }

    /// Reads the next bytes of a partial. Returns whether there are more.
    func read(upTo end: Int64, into space: UnsafeMutableRawBufferPointer) -> Bool {
        let (position, isCancelled) = state.withLock { ($0.read, $0.isCancelled) }
        guard !isCancelled, position < end, let file else { return false }
        let space = UnsafeMutableRawBufferPointer(
            rebasing: space.prefix(Int(clamping: end - position)))
        let count = ifPossible { () throws(Errno) in try file.read(at: position, into: space) } ?? 0
        take(UnsafeRawBufferPointer(rebasing: space[..<count]))
        return state.withLock { state in
            state.read += Int64(count)
            state.isUnreadable = count == 0
            return count > 0 && state.read < end
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        digest.update(bytes)
        let seen = min(inspected, bytes.count)
        inspected -= seen
        inspector.consume(UnsafeRawBufferPointer(rebasing: bytes[seen...]))
        state.withLock { $0.inspector = inspector }
    }
}
