internal import CacheKey
import CacheValues
import HTTPCaching
internal import SystemPackage

/// The way of the bytes to the partial file.
extension Download {
    /// Bytes of an image that are kept in memory at most.
    static let memoryLimit = 64 * 1024

    /// Whether there are bytes that no file has yet.
    var hasUnwritten: Bool {
        if case .bytes = body { !isBesideOrigin } else { false }
    }

    /// Whether a complete head announces an image, no byte of it arrived with the head, and this was not
    /// reported.
    var hasUnreportedHead: Bool {
        let head = request.head
        return head.isComplete && head.isWholeImage && body == nil && resumed == nil
            && !isHeadReported
    }

    /// Writes the received bytes to a partial file, which other programs see and which survives a crash. If an image
    /// is complete before this is needed, the thread that publishes it writes it. So the network does not wait for
    /// the disk.
    func writeOut() {
        guard hasUnwritten else { return }
        do {
            try beginPartial()
            reportProgress()
        } catch {
            notStored(error)
        }
    }

    /// Moves the bytes from memory to a new partial file, to which all further bytes are appended.
    func beginPartial() throws(Errno) {
        guard case .bytes(let bytes) = body else { return }
        let file = try context.directory.stage(
            key, isSmall ? nil : partialRecord, of: length, mode: isPersonal ? 0o600 : 0o644,
            makeRoom: { context.delegate.makeRoom(for: key, 0) })
        context.hold(file)
        do {
            try file.append(bytes, makeRoom: { makesRoom(for: bytes.count) })
        } catch {
            // The file can be empty.
            context.discardPartial(key)
            throw error
        }
        body = .file(file)
        digest = SHA256()
        bytes.withUnsafeBytes { _ = digest?.update($0) }
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

    /// The disk is full. Asks to evict enough for the rest of the image, or for at least `count` bytes.
    func makesRoom(for count: Int) -> Bool {
        context.delegate.makeRoom(
            for: key, max(Int64(count), length.map { $0 - received } ?? 0))
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
    }

    /// Removes the partial because its bytes are useless.
    func discardPartial() {
        if body?.file != nil || resumed != nil { context.discardPartial(key) }
        body = nil
    }
}
