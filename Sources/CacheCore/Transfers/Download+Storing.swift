internal import CacheKey
import CacheValues
import HTTPCaching
internal import SystemPackage

/// The way of the bytes to the partial file.
extension Download {
    /// Bytes of an image that are kept in memory at most.
    static let memoryLimit = 64 * 1024

    /// The time for which bytes that come slowly gather before they are written.
    static let gatheringTime = Duration.milliseconds(50)

    /// Whether there are bytes that no file has yet.
    var hasUnwritten: Bool {
        if case .bytes = body { !isBesideOrigin } else { false }
    }

    /// When bytes have gathered for long enough; `nil` if there are none.
    var writingDeadline: ContinuousClock.Instant? {
        piece != nil || hasUnwritten ? writingTime : nil
    }

    /// Whether a complete head announces an image, no byte of it arrived with the head, and this was not
    /// reported.
    var hasUnreportedHead: Bool {
        let head = request.head
        return head.isComplete && head.isWholeImage && body == nil && resumed == nil
            && !isHeadReported
    }

    /// Has the received bytes written to a partial file, which other programs see and which survives a crash. If an image
    /// is complete before this is needed, the thread that publishes it writes it. So the network does not wait for
    /// the disk.
    func writeOut() {
        guard hasUnwritten else { return }
        do {
            try beginPartial()
        } catch {
            notStored(error)
        }
    }

    /// Whether bytes need no file although there are `count` more.
    func staysInMemory(with count: Int) -> Bool {
        body?.file == nil && resumed == nil && received + Int64(count) <= Self.memoryLimit
    }

    /// Moves the bytes from memory to a new partial file, to which all further bytes are appended.
    func beginPartial() throws(Errno) {
        guard case .bytes(let bytes) = body else { return }
        let file = try context.directory.stage(
            key, isSmall ? nil : partialRecord, of: length, mode: isPersonal ? 0o600 : 0o644,
            makeRoom: { context.delegate.makeRoom(for: key, 0) })
        context.hold(file)
        body = .file(file)
        writer = BodyWriter(id, file, inspector, after: bytes.count)
        bytes.withUnsafeBytes { gather($0) }
    }

    // MARK: Pieces

    /// Adds bytes to the next piece for the writer.
    func gather(_ bytes: UnsafeRawBufferPointer) {
        unwritten += Int64(bytes.count)
        var rest = bytes
        while !rest.isEmpty {
            let piece = piece ?? context.bytes.pieces.take()
            self.piece = piece
            rest = piece.fill(rest)
            if piece.isFull { handOver() }
        }
    }

    /// Gives the writer what has gathered.
    func handOver() {
        guard let writer, let piece else { return }
        self.piece = nil
        writingTime = .now + Self.gatheringTime
        let (delegate, key) = (context.delegate, key)
        // If the disk is full, enough for the rest of the image is evicted, or at least for these bytes.
        let missing = max(unwritten, length.map { $0 - received + unwritten } ?? 0)
        context.bytes.write(piece, by: writer) { delegate.makeRoom(for: key, missing) }
    }

    /// Whether the download can't end before the writer is done.
    var awaitsWriter: Bool { unwritten > 0 || isRereading && answer == .isWhole }

    /// Takes notice of what the writer has done since the last time. A failure ends the request.
    func takeProgress() {
        guard let progress = writer?.progress else { return }
        reread = progress.read
        if progress.isUnreadable {
            isPartialChanged = true
            reread = resumed?.resumption.received ?? 0
        }
        inspector = progress.inspector
        let left = received - (resumed?.resumption.received ?? 0) - progress.written
        if let failure = progress.failure {
            (received, unwritten) = (received - left, 0)
            return notStored(failure)
        }
        let hasWritten = left < unwritten
        unwritten = left
        // A partial may hold anything. It counts once the origin has sent its rest.
        guard hasWritten else { return }
        reportProgress()
        do { try checkShape() } catch { request.fail(error) }
    }

    /// Waits until everything that was received is in the file.
    func settle() {
        guard unwritten > 0 else { return }
        handOver()
        context.bytes.wait()
        takeProgress()
    }

    /// Takes the file from the writer.
    func leaveFile() {
        guard let writer else { return }
        writer.cancel()
        piece.map { context.bytes.pieces.giveBack($0) }
        piece = nil
        if unwritten > 0 || isRereading { context.bytes.wait() }
        unwritten = 0
        writer.leaveFile()
        self.writer = nil
    }

    /// The record by which a new partial can be resumed; `nil` if it may not be stored or has no validator.
    private var partialRecord: PartialRecord? {
        guard resumed == nil, leavesPartial, rules.permitsStoring(request.head) else { return nil }
        var record = PartialRecord(request.head, now: .now)
        record?.freshness = rules.freshness(of: request.head, request.times)
        return record
    }

    /// Whether the download leaves a partial that can be resumed, with at least a hundredth of the image more than it
    /// began with.
    var hasProgressed: Bool {
        guard body?.file != nil, let length, resumed != nil || partialRecord != nil else {
            return false
        }
        return (received - (resumed?.resumption.received ?? 0)) * 100 >= length
    }

    /// Most downloads succeed, so a small image gets its record only when it is left behind: an image that is
    /// complete soon is not worth two changes of attributes.
    private var isSmall: Bool { length ?? 0 <= PartialPolicy.smallWhole }

    /// A write to the disk failed.
    func notStored(_ cause: Errno) {
        // The bytes on a failing disk are not worth resuming.
        if body?.file == nil || received == 0 || !cause.isFullDisk { discardPartial() }
        let name = DirectoryName.partial(key)
        request.fail(.storage(cause, path: "\(context.directory.path)/\(name)"))
    }

    /// Leaves the partial for a later download, with the record by which it can be resumed. A response that may
    /// not be stored leaves nothing.
    func leaveBehind() {
        // Only its account could continue it.
        if isPersonal { return discardPartial() }
        writeOut()
        settle()
        guard let file = body?.file else { return }
        guard requests.settings.caching.permitsStoring(request.head) else {
            return discardPartial()
        }
        guard let partialRecord, isSmall else { return }
        context.directory.keep(partialRecord, with: file)
    }

    /// The download is stopped before its end.
    func stop() {
        if leavesPartial { leaveBehind() } else { discardPartial() }
        leaveFile()
    }

    /// Removes the partial because its bytes are useless.
    func discardPartial() {
        leaveFile()
        if body?.file != nil || resumed != nil { context.discardPartial(key) }
        body = nil
    }
}
