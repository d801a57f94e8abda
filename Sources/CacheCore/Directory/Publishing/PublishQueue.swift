internal import CacheKey
import HTTPCaching

/// Turns images into entries, batch by batch. Images are prepared as they arrive, and a whole batch is committed
/// at a time; see ``GroupCommitPolicy`` for when.
///
/// It belongs to the directory's thread. Large batches are committed by the ``CommitThread``, while the next one
/// gathers.
final class PublishQueue {
    /// The most images in a batch. Large enough that downloads seldom wait for the disk.
    static let largestBatch = 768
    /// The most images on their way to being entries: one batch is committed, one gathers, and one waits in the
    /// worker's inbox. Each image can have a file open.
    static let largestBacklog = 3 * largestBatch
    /// While a batch gathers, new images are prepared this often,
    private static let step = Duration.milliseconds(10)
    /// or as soon as there are this many. That is work for a millisecond or two, which is worth a wake-up.
    static let stretch = 16

    private let directory: CacheDirectory
    private let delegate: any DirectoryWorkerDelegate
    private let commitThread: CommitThread
    private var policy = GroupCommitPolicy()
    /// Images that are not prepared yet.
    private var images: [StagedImage] = []
    /// Images that are prepared.
    private var batch = PublicationBatch()
    /// When the batch stops gathering, unless another one is still being committed.
    private var gatheringEnd = ContinuousClock.now
    /// Whether the policy chose that time. Otherwise the batch only waits for the commit thread.
    private var isPaced = false

    init(directory: CacheDirectory, delegate: any DirectoryWorkerDelegate) {
        (self.directory, self.delegate) = (directory, delegate)
        commitThread = CommitThread(directory: directory, delegate: delegate)
    }

    /// Ends the commit thread. All images must have been committed.
    func finish() {
        commitThread.finish()
    }

    // MARK: Gathering

    /// Decides how long a batch that begins with `files` images waits for more.
    func startGathering(files: Int) {
        let now = ContinuousClock.now
        // An image beside a commit is not alone.
        let time = policy.gatheringEnd(files: isCommitting ? max(files, 2) : files, now: now)
        isPaced = time != nil
        gatheringEnd = time ?? now
    }

    /// The batch has gathered this many images.
    func stopGathering(files: Int) {
        if isPaced { policy.gathered(files: files) }
    }

    /// Whether the batch waits for more images: until its time has come and no other batch is being committed.
    var isGathering: Bool { isCommitting || .now < gatheringEnd }

    /// How long to wait for more images before ``isGathering`` is worth another look.
    var nextCheck: ContinuousClock.Instant {
        let next = ContinuousClock.now + Self.step
        return isCommitting ? next : min(gatheringEnd, next)
    }

    /// Whether the commit thread has a batch.
    var isCommitting: Bool {
        record(commitThread.takeCompletion())
        return commitThread.isBusy
    }

    // MARK: Preparing and committing

    /// Adds an image. ``stretch`` images are prepared together, which asks for their pins once.
    func add(_ image: StagedImage) {
        images.append(image)
        if images.count == Self.stretch { prepare() }
    }

    /// Prepares all images that were added. A batch that is full, or has gathered long enough, is committed.
    func prepare() {
        guard !images.isEmpty else { return }
        let pinned = delegate.pinned(among: images.map(\.key))
        while !images.isEmpty {
            // Before the images are taken: those that waited for a batch that has just ended are put before them.
            let isNotFirst = isCommitting
            let count = directory.prepare(
                images.prefix(Self.largestBatch - batch.count), pinned: pinned, for: &batch,
                after: isNotFirst, now: .now,
                originals: { [delegate] in
                    delegate.originals(of: $0, size: $1.record.size, for: $1.key)
                }, makeRoom: delegate.makeRoom)
            images.removeFirst(count)
            if isDue {
                startCommit()
            } else if !images.isEmpty {
                // The disk is full. Once the prepared images are entries, they can be evicted for the others.
                commitAndWait()
            }
        }
    }

    private var isDue: Bool {
        batch.count >= Self.largestBatch
            || batch.count >= GroupCommitPolicy.manyFiles && !isGathering
    }

    /// Commits all images that were added; returns when they are entries.
    func commitAll() {
        prepare()
        commitPostponed()
        commitAndWait()
    }

    /// Prepares the images that waited for the batch that is being committed, once it is.
    private func commitPostponed() {
        while batch.hasPostponed {
            record(commitThread.wait())
            prepare()
        }
    }

    /// Commits the prepared images: few of them at once, many on the commit thread, beside whatever comes next.
    func startCommit() {
        commitPostponed()
        guard batch.count > 0 else { return }
        guard batch.count >= GroupCommitPolicy.manyFiles else { return commitAndWait() }
        record(commitThread.wait())
        commitThread.start(takeCommit())
        // The batch that follows gathers for a time of its own.
        gatheringEnd = policy.nextStart ?? gatheringEnd
    }

    private func commitAndWait() {
        record(commitThread.wait())
        guard batch.count > 0 else { return }
        var commit = takeCommit()
        record(commit.run(in: directory, delegate))
    }

    private func takeCommit() -> CommitThread.Commit {
        defer { batch = PublicationBatch(beside: batch) }
        let method = policy.startCommit(files: batch.count, now: .now)
        return CommitThread.Commit(batch: batch, method: method)
    }

    private func record(_ completion: CommitThread.Completion?) {
        guard let completion else { return }
        policy.committed(
            files: completion.files, completion.method, in: completion.duration)
        images = batch.takeOthersEnded() + images
    }
}
