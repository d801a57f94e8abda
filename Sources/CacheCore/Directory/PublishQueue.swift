internal import CacheKey

/// Makes entries of images, batch by batch: each is prepared as its images come, and committed as a whole.
///
/// It belongs to the directory's thread; what is prepared is committed by another, see ``CommitThread``.
final class PublishQueue {
    /// Publications that share one commit, at most. Three batches may be open at once, with a descriptor for
    /// each image: one is prepared, one synced, and one has its names. Large enough that downloads need not
    /// wait for the disk while it makes one durable.
    static let largestBatch = 768
    /// While a batch gathers, what came is written so often.
    private static let step = Duration.milliseconds(10)
    /// Or as soon as it is so many images: work for a millisecond or two, against one waking.
    static let stretch = 16

    private let directory: CacheDirectory
    private let owner: DirectoryWorker.Owner
    private var batch = PublicationBatch()
    private var pace = GroupCommitPolicy()
    private let committer: CommitThread
    /// Until when the batch gathers, if no other is committed.
    private var end = ContinuousClock.now
    /// Whether the batch gathers for the sake of the pace, and not only because another is committed.
    private var isPaced = false

    init(directory: CacheDirectory, owner: DirectoryWorker.Owner) {
        (self.directory, self.owner) = (directory, owner)
        committer = CommitThread(directory: directory, owner: owner)
    }

    /// Ends, once all is through; there is nothing left to begin.
    func finish() {
        committer.finish()
    }

    // MARK: When

    /// Whether more images may gather beside so many before they are published.
    func mayGather(files: Int) -> Bool {
        let isCommitting = isCommitting
        let now = ContinuousClock.now
        // Beside those that are being committed nobody is alone.
        let time = pace.gathersUntil(
            files: committer.isUnsettled ? max(files, 2) : files, now: now)
        isPaced = time != nil
        end = time ?? now
        return isPaced || isCommitting
    }

    /// Whether the batch may take in more: until its time and while the last commit goes on.
    var mayGrow: Bool { isCommitting || .now < end }

    /// Whether the batch before does not have its names yet.
    var isCommitting: Bool {
        note(committer.takeEnds())
        return committer.isCommitting
    }

    /// Until when to wait for more of a batch that may grow.
    var nextLook: ContinuousClock.Instant {
        let next = ContinuousClock.now + Self.step
        return isCommitting ? next : min(end, next)
    }

    /// So many images have gathered in the end.
    func gathered(files: Int) {
        if isPaced { pace.gathered(files: files) }
    }

    // MARK: What

    /// Adds images to the batch, in order; it is committed beside those that come next when it is as large as
    /// it may be or due, and at once where the disk is full.
    ///
    /// - Parameter awaited: so many are there behind them, and somebody waits for the last.
    func prepare(_ images: inout [StagedImage], awaited: Int? = nil) {
        guard !images.isEmpty else { return }
        let pinned = owner.pinned(images.map(\.key))
        while !images.isEmpty {
            let count = directory.prepare(
                images.prefix(Self.largestBatch - batch.count), pinned: pinned, for: &batch,
                after: committer.isUnsettled, now: .now, makeRoom: owner.makeRoom)
            images.removeFirst(count)
            if batch.count >= Self.largestBatch || isDue(awaited) {
                commitBeside()
            } else if !images.isEmpty {
                // The disk is full: those before may go for the next, once they are entries.
                commit()
            }
        }
    }

    /// Commits all that is prepared; returns when all are entries.
    func commit() {
        note(committer.waitForAll())
        guard batch.count > 0 else { return }
        let next = takeBatch(isLast: true)
        let (files, choice) = (next.batch.count, next.choice)
        let start = ContinuousClock.now
        let publications = published(consume next)
        pace.took(start.duration(to: .now), choice, files: files)
        owner.onPublished(publications)
    }

    /// Commits a batch; closes its files before anybody hears of them, who would take that for a change.
    private func published(_ commit: consuming CommitThread.Commit) -> [Publication] {
        directory.settle(
            directory.name(commit.batch, sync: commit.choice, makeRoom: owner.makeRoom))
    }

    /// Commits all that is prepared beside what comes next.
    ///
    /// - Parameter isLast: nothing more is expected, so that nothing waits for the next commit.
    func commitBeside(isLast: Bool = false) {
        guard batch.count > 0 else {
            if isLast { committer.hurry() }
            return
        }
        note(committer.waitForNames())
        guard batch.count >= GroupCommitPolicy.manyFiles else { return commit() }
        committer.begin(takeBatch(isLast: isLast))
        // The next one has its own time.
        end = pace.nextBegin ?? end
    }

    /// Whether the batch need not wait for what else has come.
    private func isDue(_ awaited: Int?) -> Bool {
        !isCommitting && pace.mayBegin(files: batch.count, awaited: awaited, at: .now)
    }

    private func takeBatch(isLast: Bool) -> CommitThread.Commit {
        defer { batch = PublicationBatch() }
        let now = ContinuousClock.now
        let next = isLast ? nil : pace.next(after: now)
        let choice = pace.choose(files: batch.count, now: now)
        return CommitThread.Commit(batch: batch, choice: choice, next: next)
    }

    private func note(_ ends: [CommitThread.End]) {
        for end in ends { pace.took(end.duration, end.choice, files: end.files) }
    }
}
