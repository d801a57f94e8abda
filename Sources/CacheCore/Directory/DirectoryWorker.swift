internal import CacheKey
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The one place where names in the directory change, in the order the cache decided.
///
/// All publications that gather while the last batch is being synced, and for a while after it, share one
/// commit; see ``PublishQueue``. What was decided behind publications waits until they are entries, except
/// evictions, which spare what is in flight. Because there is one worker and one order, an unlink decided
/// before a publication of the same key can never hit the newer file.
final class DirectoryWorker: Sendable {
    /// What the worker can be asked to do.
    enum Job: Sendable {
        /// While others are on their way too, it may wait to share a commit with them.
        case publish(StagedImage, mayWait: Bool)
        /// A file of this directory; in another that has its place by then it stays.
        case unlink(Victim, in: CacheDirectory.Identity)
        /// Runs the closure once everything queued before it is done; after the end, at once.
        case run(@Sendable () -> Void)
        /// Runs the closure in its turn, but beside publications: it touches nothing that is being published.
        /// It should end about the time it is given, by which each has half of the thread.
        case runBeside(@Sendable (ContinuousClock.Instant) -> Void)

        /// Whether it may be done while publications gather; somebody waits for any other.
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

        /// Whether the thread is woken for it, however few there are.
        fileprivate var isUrgent: Bool { !isPublication || !letsGather }
    }

    /// Whom the worker asks and tells, on its own thread or the one that commits.
    struct Owner: Sendable {
        /// Which of the images about to be published are pinned.
        let pinned: @Sendable ([CacheKey]) -> Set<CacheKey>
        let onPublished: @Sendable ([Publication]) -> Void
        /// The disk is too full to publish an image, with so many bytes to come; whether others went for it.
        let makeRoom: @Sendable (CacheKey, Int64) -> Bool
        /// A victim's file is gone, or, with `false`, could not be removed.
        let onUnlinked: @Sendable (Victim, Bool) -> Void
    }

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
        guard !inbox.put(job, isUrgent: job.isUrgent) else { return }
        switch job {
        case .run(let body): body()
        case .runBeside(let body): body(.now)
        case .publish, .unlink: break
        }
    }

    /// Finishes what is queued and what that leads to, as an image that was removed while it was being
    /// published is unlinked after it; then ends the thread.
    func finish() {
        enqueue(.run { self.enqueue(.run { self.inbox.close() }) })
        thread.withLock { $0.take() }?.join()
        inbox.close()
    }

    private func run(_ owner: Owner) {
        let publisher = PublishQueue(directory: directory, owner: owner)
        defer { publisher.finish() }
        var share = Share()
        while var jobs = inbox.takeAll() {
            var files = jobs.count(where: \.isPublication)
            if files > 0, jobs.allSatisfy(\.letsGather), publisher.mayGather(files: files) {
                // Written as they come, so that little is left to do when the time is there.
                while jobs.allSatisfy(\.letsGather), publisher.mayGrow {
                    perform(&jobs, publisher, &share, owner)
                    jobs = inbox.takeAll(by: publisher.nextLook, enough: PublishQueue.stretch)
                    files += jobs.count(where: \.isPublication)
                }
                publisher.gathered(files: files)
            }
            let isAwaited = !jobs.allSatisfy(\.letsGather)
            perform(&jobs, publisher, &share, owner, isAwaited: isAwaited)
            publisher.commitBeside(isLast: isAwaited)
        }
    }

    /// Performs jobs in order. What is to be published is prepared; before anything else is done, it is
    /// committed.
    ///
    /// - Parameter isAwaited: somebody waits for the last of them.
    private func perform(
        _ jobs: inout [Job], _ publisher: PublishQueue, _ share: inout Share, _ owner: Owner,
        isAwaited: Bool = false
    ) {
        var images: [StagedImage] = []
        /// How many more there are to the last, where somebody waits for that.
        func awaited(behind jobs: [Job]) -> Int? {
            let waiting = inbox.waiting
            return isAwaited || waiting.isUrgent ? jobs.count + waiting.count : nil
        }
        func publishAll() {
            publisher.prepare(&images)
            publisher.commit()
        }
        // Taken from the end, so that nothing keeps the files of a finished batch open.
        jobs.reverse()
        while let job = jobs.popLast() {
            switch job {
            case .publish(let image, _):
                images.append(image)
                if images.count == PublishQueue.stretch {
                    publisher.prepare(&images, awaited: awaited(behind: jobs))
                }
            case .unlink(let victim, let place):
                publishAll()
                owner.onUnlinked(victim, directory.isRemoved(victim, from: place, logger))
            case .run(let body):
                publishAll()
                body()
            case .runBeside(let body): share.use(body)
            }
        }
        publisher.prepare(&images)
    }

    /// The part of the thread's time that what runs beside publications may take: as much as these took since
    /// the last time, within bounds, because they wait for it.
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

extension CacheDirectory {
    /// Removes a victim's file; `false` if that can't be done, and the log says why. In a directory that was
    /// moved away nothing is removed, without a word: somebody may want to keep it.
    func isRemoved(_ victim: Victim, from place: Identity, _ logger: Logger) -> Bool {
        guard isInPlace(place) else { return false }
        do {
            try remove(victim)
            return true
        } catch {
            log(error, of: victim, logger)
            return false
        }
    }

    /// Removes a victim's file.
    func remove(_ victim: Victim) throws(Errno) {
        switch victim.name {
        case .entry(let key): try unlink(key)
        case .partial(let key): try discardPartial(of: key)
        }
    }

    func log(_ error: Errno, of victim: Victim, _ logger: Logger) {
        logger.warning(
            "a file could not be removed and stays",
            metadata: [
                "directory": "\(path)", "name": "\(victim.name)", "error": "\(error)",
                "remedy": "\(error.remedy)",
            ])
    }
}
