import CacheDisk
import CacheFetching
internal import CacheKey
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The thread on which names in the directory change, in the order the cache decided.
///
/// Publications share commits; see ``PublishQueue``. A job behind publications starts when they are entries, so
/// an unlink that was decided before a publication of the same key can never hit the newer file. Evictions do not
/// wait, because they never take an image that is on its way.
final class DirectoryWorker: Sendable {
    enum Job: Sendable {
        /// - Parameter mayWait: more images are on their way, so this one can wait to share a commit with them.
        indirect case publish(StagedImage, mayWait: Bool)
        /// Unlinks a file of this directory. If another directory has taken its place by then, the file stays.
        case unlink(Victim, in: CacheDirectory.Identity)
        /// Runs the closure once everything queued before it is done; after the end, at once.
        case run(@Sendable () -> Void)
        /// Runs the closure in its turn, but beside publications: it must not touch an image that is being
        /// published. It should end about the time it is given, so that publications get half of the thread.
        case runBeside(@Sendable (ContinuousClock.Instant) -> Void)

        /// Whether publications can go on gathering in spite of it.
        fileprivate var letsGather: Bool {
            switch self {
            case .publish(_, let mayWait): mayWait
            case .runBeside: true
            case .unlink, .run: false
            }
        }

        fileprivate var isPublication: Bool {
            if case .publish = self { true } else { false }
        }

        /// Whether the thread wakes up for it at once.
        fileprivate var isUrgent: Bool { !isPublication || !letsGather }
    }

    private let directory: CacheDirectory
    private let logger: Logger
    private let inbox = Inbox<Job>()
    private let thread = Mutex<NamedThread?>(nil)

    init(directory: CacheDirectory, logger: Logger) {
        self.directory = directory
        self.logger = logger
    }

    /// Starts the thread, which keeps the delegate until ``finish()``.
    func start(_ delegate: any DirectoryWorkerDelegate) {
        thread.withLock { handle in
            handle = NamedThread("directory") { self.run(delegate) }
        }
    }

    /// Queues a job; never waits.
    func enqueue(_ job: Job) {
        guard !inbox.put(job, isUrgent: job.isUrgent) else { return }
        switch job {
        case .run(let body): body()
        case .runBeside(let body): body(.now)
        case .publish, .unlink: break
        }
    }

    /// Finishes the queued jobs and the jobs they lead to; then ends the thread. For example, an image that was
    /// removed while it was being published is unlinked after it.
    func finish() {
        enqueue(.run { self.enqueue(.run { self.inbox.close() }) })
        thread.withLock { $0.take() }?.join()
        inbox.close()
    }

    private func run(_ delegate: any DirectoryWorkerDelegate) {
        let queue = PublishQueue(directory: directory, delegate: delegate)
        defer { queue.finish() }
        var share = Share()
        while var jobs = inbox.takeAll() {
            gather(&jobs, queue, &share, delegate)
            perform(&jobs, queue, &share, delegate)
            queue.startCommit()
        }
    }

    /// Lets a batch gather: prepares images as they come, so that little is left to do when the batch is due. Ends
    /// early for a job that publications must not delay, and leaves the last jobs in `jobs`.
    private func gather(
        _ jobs: inout [Job], _ queue: PublishQueue, _ share: inout Share,
        _ delegate: any DirectoryWorkerDelegate
    ) {
        var files = jobs.count(where: \.isPublication)
        guard files > 0, jobs.allSatisfy(\.letsGather) else { return }
        queue.startGathering(files: files)
        while jobs.allSatisfy(\.letsGather), queue.isGathering {
            perform(&jobs, queue, &share, delegate)
            jobs = inbox.takeAll(by: queue.nextCheck, enough: PublishQueue.stretch)
            files += jobs.count(where: \.isPublication)
        }
        queue.stopGathering(files: files)
    }

    /// Performs jobs in order. Images are prepared, and committed before a job that waits for them.
    private func perform(
        _ jobs: inout [Job], _ queue: PublishQueue, _ share: inout Share,
        _ delegate: any DirectoryWorkerDelegate
    ) {
        // Jobs are moved out from the end, so that no copy keeps the files of a finished batch open.
        jobs.reverse()
        while let job = jobs.popLast() {
            switch job {
            case .publish(let image, _): queue.add(image)
            case .unlink(let victim, let place):
                queue.commitAll()
                delegate.unlinked(victim, isGone: directory.tryRemove(victim, from: place, logger))
            case .run(let body):
                queue.commitAll()
                body()
            case .runBeside(let body): share.use(body)
            }
        }
        queue.prepare()
    }

    /// The part of the thread's time for jobs beside publications: as much as the publications took since the last
    /// such job, but no more than ``longest``, because publications wait meanwhile.
    private struct Share {
        private static let longest = Duration.milliseconds(50)
        private var lastEnd = ContinuousClock.now

        mutating func use(_ body: (ContinuousClock.Instant) -> Void) {
            let start = ContinuousClock.now
            body(start + min(lastEnd.duration(to: start), Self.longest))
            lastEnd = .now
        }
    }
}
