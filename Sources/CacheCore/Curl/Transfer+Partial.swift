internal import CacheKey
internal import SystemPackage

/// What came of an image on its way to its partial.
extension Transfer {
    /// What comes at once is held back up to here.
    static let detachedLimit = 64 * 1024

    /// Whether something came that no partial has yet.
    var hasUnwritten: Bool {
        if case .bytes = body { true } else { false }
    }

    /// Whether an image is announced, none of it came at once, and nobody knows.
    var hasUntoldHead: Bool {
        head.isComplete && head.status == 200 && body == nil && resting == nil && !isHeadTold
    }

    /// Lays what came into a partial, where others see it and a crash leaves it. What is whole before that
    /// is needed is written by whoever publishes it: the network does not wait for the disk.
    func writeOut() {
        guard hasUnwritten else { return }
        do {
            try beginPartial()
            tellProgress()
        } catch {
            notStored(error)
        }
    }

    func tellProgress() {
        isHeadTold = true
        context.onProgress(key, id, received, length)
    }

    /// What was held back goes into a new partial, and so will all that follows.
    func beginPartial() throws(Errno) {
        guard case .bytes(let bytes) = body else { return }
        let file = try context.directory.stage(
            key, isSmall ? nil : partialRecord, makeRoom: { context.makeRoom(key, 0) })
        do {
            try file.append(bytes, makeRoom: { makesRoom(for: bytes.count) })
        } catch {
            // Of little it may have none.
            context.discardPartial(key)
            throw error
        }
        body = .file(file)
        digest = SHA256()
        bytes.withUnsafeBytes { _ = digest?.update($0) }
    }

    /// By what a new partial could be continued.
    private var partialRecord: PartialRecord? {
        let rules = context.settings.caching
        guard resting == nil, rules.permitsStoring(head) else { return nil }
        var record = PartialRecord(head, now: .now)
        record?.freshness = rules.freshness(of: head, times)
        return record
    }

    /// Whether others went for what is to be written now, and for all that is to come.
    func makesRoom(for count: Int) -> Bool {
        context.makeRoom(key, max(Int64(count), length.map { $0 - received } ?? 0))
    }

    /// Most downloads come through: what is soon here is not worth two changes of attributes.
    private var isSmall: Bool { length ?? 0 <= PartialPolicy.smallWhole }

    /// The disk refused something of it.
    func notStored(_ cause: Errno) {
        // What a failing disk has of it is not worth going on with.
        if body?.file == nil || received == 0 || !cause.isFullDisk { discardPartial() }
        let name = DirectoryName.partial(key)
        ownFailure = .storage(cause, path: "\(context.directory.path)/\(name)")
    }

    /// The partial stays for a later download, which has to know by what to continue it. One of what may not
    /// be stored goes.
    func leaveBehind() {
        writeOut()
        guard let file = body?.file else { return }
        guard context.settings.caching.permitsStoring(head) else { return discardPartial() }
        guard let partialRecord, isSmall else { return }
        context.directory.keep(partialRecord, with: file)
    }

    /// Removes the partial: nothing of it is of use.
    func discardPartial() {
        if body?.file != nil || resting != nil { context.discardPartial(key) }
        body = nil
    }
}
