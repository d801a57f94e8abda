internal import CacheKey

/// Makes entries of images, batch by batch: each is prepared as its images come, and committed as a whole.
///
/// It belongs to the directory's thread, and has one more for commits: they mostly wait for the disk, and
/// meanwhile the next batch can be prepared. There is never more than one commit at a time.
final class Publisher {
    /// Publications that share one commit, at most. Two batches may be open at once, with a descriptor for
    /// each image. Large enough that downloads need not wait for the disk while it makes one durable.
    static let largestBatch = 768
    /// While a batch gathers, what came is written so often.
    private static let step = Duration.milliseconds(10)
    /// Or as soon as it is so many images: work for a millisecond or two, against one waking.
    static let stretch = 16

    /// A batch to be committed.
    private struct Commit: Sendable {
        var batch: PublicationBatch
        let choice: SyncPace.Choice

        mutating func perform(_ directory: CacheDirectory, _ owner: DirectoryWorker.Owner) -> End {
            let start = ContinuousClock.now
            let publications = directory.commit(batch, sync: choice, makeRoom: owner.makeRoom)
            let duration = start.duration(to: .now)
            // Closes their files.
            batch = PublicationBatch()
            owner.onPublished(publications)
            return End(choice: choice, files: publications.count, duration: duration)
        }
    }

    /// What a commit took.
    private struct End: Sendable {
        let choice: SyncPace.Choice
        let files: Int
        let duration: Duration
    }

    private let directory: CacheDirectory
    private let owner: DirectoryWorker.Owner
    private var batch = PublicationBatch()
    private var pace = SyncPace()
    private let commits = Inbox<Commit>()
    private let ends = Inbox<End>()
    private let thread: NamedThread
    /// Whether a commit is on its way through the other thread.
    private var isCommitting = false
    /// Whether the batch gathers for the sake of the pace, and not only because another is committed.
    private var isPaced = false

    init(directory: CacheDirectory, owner: DirectoryWorker.Owner) {
        (self.directory, self.owner) = (directory, owner)
        thread = NamedThread("commit") { [commits, ends] in
            directory.kernel.growDescriptorTable(to: 2 * Self.largestBatch, directory.descriptor)
            while var taken = commits.takeAll() {
                while var commit = taken.popLast() { ends.put(commit.perform(directory, owner)) }
            }
        }
    }

    /// Ends the thread, once it is through; there is nothing left to begin.
    func finish() {
        commits.close()
        thread.join()
    }

    // MARK: When

    /// Until when more images may gather beside so many; `nil` where they are to be published at once.
    func gathersUntil(files: Int) -> ContinuousClock.Instant? {
        noteEnds(ends.takeAll(by: .now))
        let now = ContinuousClock.now
        // Beside those that are being committed nobody is alone.
        let time = pace.gathersUntil(files: isCommitting ? max(files, 2) : files, now: now)
        isPaced = time != nil
        return time ?? (isCommitting ? now : nil)
    }

    /// Whether the batch may take in more: until that time and while the last commit goes on.
    func mayGrow(until time: ContinuousClock.Instant) -> Bool {
        noteEnds(ends.takeAll(by: .now))
        return isCommitting || .now < time
    }

    /// Until when to wait for more of a batch that may grow.
    func nextLook(until time: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let next = ContinuousClock.now + Self.step
        return isCommitting ? next : min(time, next)
    }

    /// So many images have gathered in the end.
    func gathered(files: Int) {
        if isPaced { pace.gathered(files: files) }
    }

    // MARK: What

    /// Adds images to the batch, in order; it is committed beside those that come next when it is as large as
    /// it may be or due, and at once where the disk is full.
    ///
    /// - Parameter awaited: so many are still to come to the last, for which somebody waits: the batch is due with
    ///   the end of the commit before once it has as many, so that each has about half of what is left.
    func prepare(_ images: inout [StagedImage], awaited: Int? = nil) {
        guard !images.isEmpty else { return }
        let pinned = owner.pinned(images.map(\.key))
        while !images.isEmpty {
            let count = directory.prepare(
                images.prefix(Self.largestBatch - batch.count), pinned: pinned, for: &batch,
                after: isCommitting, now: .now, makeRoom: owner.makeRoom)
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
        waitForEnd()
        guard var next = takeBatch() else { return }
        noteEnds([next.perform(directory, owner)])
    }

    /// Commits all that is prepared beside what comes next.
    func commitBeside() {
        guard batch.count > 0 else { return }
        waitForEnd()
        guard batch.count >= SyncPace.manyFiles, let next = takeBatch() else { return commit() }
        isCommitting = true
        commits.put(next)
    }

    /// Whether the batch need not wait for what else has come: no other is being committed, and it is time, or
    /// somebody waits for the end.
    private func isDue(_ awaited: Int?) -> Bool {
        guard batch.count >= SyncPace.manyFiles else { return false }
        noteEnds(ends.takeAll(by: .now))
        return !isCommitting && (batch.count >= awaited ?? .max || pace.mayBegin(at: .now))
    }

    private func takeBatch() -> Commit? {
        guard batch.count > 0 else { return nil }
        defer { batch = PublicationBatch() }
        return Commit(batch: batch, choice: pace.choose(files: batch.count, now: .now))
    }

    private func waitForEnd() {
        while isCommitting, let ended = ends.takeAll() { noteEnds(ended) }
    }

    private func noteEnds(_ ended: [End]) {
        for end in ended {
            pace.took(end.duration, end.choice, files: end.files)
            isCommitting = false
        }
    }
}
