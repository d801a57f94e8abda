internal import CacheKey
internal import Logging
internal import Synchronization
internal import SystemPackage

/// The one thread that changes names in the directory, in the order the cache decided.
///
/// Jobs are taken in batches: all publications that gathered while the last batch was being synced
/// share one commit. Because there is one worker and one order, an unlink decided before a
/// publication of the same key can never hit the newer file.
final class DirectoryWorker: Sendable {
    /// What the worker can be asked to do.
    enum Job: Sendable {
        case publish(StagedImage)
        case unlink(CacheKey)
        /// Runs the closure once everything queued before it is done.
        case notify(@Sendable () -> Void)
    }

    /// Publications that share one commit, at most.
    static let largestBatch = 256

    private let directory: CacheDirectory
    private let logger: Logger
    private let inbox = Inbox<Job>()
    private let thread = Mutex<NamedThread?>(nil)

    init(directory: CacheDirectory, logger: Logger) {
        self.directory = directory
        self.logger = logger
    }

    /// Starts the thread; `onPublished` is called on it after every batch until ``finish()``.
    func start(onPublished: @escaping @Sendable ([Publication]) -> Void) {
        thread.withLock { handle in
            handle = NamedThread("directory") { self.run(onPublished) }
        }
    }

    /// Queues jobs; never waits.
    func enqueue(_ job: Job) {
        inbox.put(job)
    }

    /// Finishes what is queued and ends the thread.
    func finish() {
        inbox.close()
        thread.withLock { $0.take() }?.join()
    }

    private func run(_ onPublished: ([Publication]) -> Void) {
        var pace = SyncPace()
        while var jobs = inbox.takeAll() {
            var staged: [StagedImage] = []
            // Taken from the end, so that nothing keeps the files of a finished batch open.
            jobs.reverse()
            while let job = jobs.popLast() {
                if case .publish(let image) = job {
                    staged.append(image)
                    if staged.count == Self.largestBatch { publish(&staged, &pace, onPublished) }
                } else {
                    publish(&staged, &pace, onPublished)
                    perform(job)
                }
            }
            publish(&staged, &pace, onPublished)
        }
    }

    private func publish(
        _ staged: inout [StagedImage], _ pace: inout SyncPace,
        _ onPublished: ([Publication]) -> Void
    ) {
        guard !staged.isEmpty else { return }
        let choice = pace.choose(files: staged.count)
        let start = ContinuousClock.now
        let publications = directory.publish(staged, now: .now, sync: choice)
        pace.took(start.duration(to: .now), choice)
        staged.removeAll(keepingCapacity: true)
        onPublished(publications)
    }

    private func perform(_ job: Job) {
        do {
            switch job {
            case .publish: preconditionFailure("publications are performed in batches")
            case .unlink(let key): try directory.unlink(key)
            case .notify(let body): body()
            }
        } catch {
            logger.warning(
                "a file could not be removed",
                metadata: ["directory": "\(directory.path)", "error": "\(error)"])
        }
    }
}
