internal import CacheKey
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The one thread that changes names in the directory, in the order the cache decided.
///
/// All publications that gather while the last batch is being synced, and for a while after it, share one
/// commit. Because there is one worker and one order, an unlink decided before a
/// publication of the same key can never hit the newer file.
final class DirectoryWorker: Sendable {
    /// What the worker can be asked to do.
    enum Job: Sendable {
        /// While others are on their way too, it may wait to share a commit with them.
        case publish(StagedImage, mayWait: Bool)
        case unlink(Victim)
        /// Runs the closure once everything queued before it is done; after the end, at once.
        case run(@Sendable () -> Void)

        /// Somebody waits for any other.
        fileprivate var mayWait: Bool {
            if case .publish(_, let mayWait) = self { mayWait } else { false }
        }
    }

    /// Whom the worker asks and tells, on its own thread.
    struct Owner: Sendable {
        /// Which of the images about to be published are pinned, in order.
        let arePinned: @Sendable ([CacheKey]) -> [Bool]
        let onPublished: @Sendable ([Publication]) -> Void
        /// The disk is too full to publish an image, with so many bytes to come; whether others went for it.
        let makeRoom: @Sendable (CacheKey, Int64) -> Bool
        /// A victim's file is gone, or, with `false`, could not be removed.
        let onUnlinked: @Sendable (Victim, Bool) -> Void
    }

    /// Publications that share one commit, at most.
    static let largestBatch = 1024
    /// While a batch gathers, what came is written so often.
    private static let step = Duration.milliseconds(10)

    private let directory: CacheDirectory
    private let logger: Logger
    private let inbox = Inbox<Job>()
    private let thread = Mutex<NamedThread?>(nil)

    init(directory: CacheDirectory, logger: Logger) {
        self.directory = directory
        self.logger = logger
    }

    /// Starts the thread, which serves its owner until ``finish()``.
    func start(_ owner: Owner) {
        thread.withLock { handle in
            handle = NamedThread("directory") { self.run(owner) }
        }
    }

    /// Queues jobs; never waits.
    func enqueue(_ job: Job) {
        if !inbox.put(job, isUrgent: !job.mayWait), case .run(let body) = job { body() }
    }

    /// Finishes what is queued and what that leads to, as an image that was removed while it was being
    /// published is unlinked after it; then ends the thread.
    func finish() {
        enqueue(.run { self.enqueue(.run { self.inbox.close() }) })
        thread.withLock { $0.take() }?.join()
        inbox.close()
    }

    private func run(_ owner: Owner) {
        var pace = SyncPace()
        while var jobs = inbox.takeAll() {
            var batch = PublicationBatch()
            if jobs.allSatisfy(\.mayWait),
                let time = pace.gathersUntil(files: jobs.count, now: .now)
            {
                // Written as they come, so that little is left to do when the time is there.
                var files = jobs.count
                while jobs.allSatisfy(\.mayWait), .now < time, batch.count < Self.largestBatch {
                    perform(&jobs, &batch, &pace, owner)
                    jobs = inbox.takeAll(by: min(time, .now + Self.step))
                    files += jobs.count
                }
                pace.gathered(files: files)
            }
            perform(&jobs, &batch, &pace, owner)
            commit(&batch, &pace, owner)
        }
    }

    /// Performs jobs in order. What is to be published is added to the batch, which is committed before
    /// anything else is done, and when it is as large as it may be.
    private func perform(
        _ jobs: inout [Job], _ batch: inout PublicationBatch, _ pace: inout SyncPace,
        _ owner: Owner
    ) {
        var images: [StagedImage] = []
        func publishAll() {
            prepare(&images, &batch, &pace, owner)
            commit(&batch, &pace, owner)
        }
        // Taken from the end, so that nothing keeps the files of a finished batch open.
        jobs.reverse()
        while let job = jobs.popLast() {
            switch job {
            case .publish(let image, _): images.append(image)
            case .unlink(let victim):
                publishAll()
                owner.onUnlinked(victim, directory.isRemoved(victim, logger))
            case .run(let body):
                publishAll()
                body()
            }
        }
        prepare(&images, &batch, &pace, owner)
    }

    private func prepare(
        _ images: inout [StagedImage], _ batch: inout PublicationBatch, _ pace: inout SyncPace,
        _ owner: Owner
    ) {
        guard !images.isEmpty else { return }
        for (index, isPinned) in owner.arePinned(images.map(\.key)).enumerated() {
            images[index].record.isPinned = isPinned
        }
        while true {
            let count = directory.prepare(
                images.prefix(Self.largestBatch - batch.count), for: &batch, now: .now,
                makeRoom: owner.makeRoom)
            images.removeFirst(count)
            guard !images.isEmpty else { return }
            commit(&batch, &pace, owner)
        }
    }

    private func commit(
        _ batch: inout PublicationBatch, _ pace: inout SyncPace, _ owner: Owner
    ) {
        guard batch.count > 0 else { return }
        let start = ContinuousClock.now
        let choice = pace.choose(files: batch.count, now: start)
        let publications = directory.commit(batch, sync: choice, makeRoom: owner.makeRoom)
        pace.took(start.duration(to: .now), choice, files: publications.count)
        // Closes their files.
        batch = PublicationBatch()
        owner.onPublished(publications)
    }
}

extension CacheDirectory {
    /// Removes a victim's file; `false` if that can't be done, and the log says why.
    func isRemoved(_ victim: Victim, _ logger: Logger) -> Bool {
        do {
            switch victim.name {
            case .entry(let key): try unlink(key)
            case .partial(let key): try discardPartial(of: key)
            }
            return true
        } catch {
            logger.warning(
                "a file could not be removed and stays",
                metadata: [
                    "directory": "\(path)", "name": "\(victim.name)", "error": "\(error)",
                    "remedy": "\(error.remedy)",
                ])
            return false
        }
    }
}
