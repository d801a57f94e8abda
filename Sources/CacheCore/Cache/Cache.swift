import CacheDisk
import CacheFetching
public import CacheKey
import CacheModel
import CacheValues
import HTTPCaching
public import Logging
internal import Synchronization
internal import SystemPackage

/// An image cache in a directory. Any number of requests for one URL share one download, and an image
/// appears under its name only when it is complete.
///
/// Thread-safe. One lock guards one state; no call waits under it for a disk, a network or a foreign
/// function. A lookup costs well below a microsecond and never waits for downloads, removals or the scan of
/// the directory.
///
///     let cache = try Cache(settings, logger: logger)
///     let waiter = cache.fetch([ImageRequest(try CacheURL("https://example.com/a.png"))], FetchOptions())
///     cache.lookup([CacheKey(try CacheURL("https://example.com/a.png"))])  // queued, downloading, cached …
public final class Cache: Sendable {
    /// The data that the one lock guards.
    struct Guarded: ~Copyable, Sendable {
        var state: CacheState
        /// `nil` if the directory can't be watched. Then each lookup probes the files it is asked about.
        var watch: DirectoryWatch?
    }

    let directory: CacheDirectory
    private let configured: Mutex<CacheSettings>
    /// A part of the settings that every call needs.
    private let naming: Mutex<IgnoredQueries>
    let logger: Logger
    private let failureLog: FailureLog
    let history: History
    private let guarded: Mutex<Guarded>
    let worker: DirectoryWorker
    let transfers: TransferLoop
    /// `nil` without a store.
    let store: StoreService?
    private let observer = Mutex<(any CacheObserver)?>(nil)
    private let scanner = Mutex<(thread: NamedThread, end: Latch)?>(nil)
    let maintenance: Maintenance
    let verifier = Verifier()
    private let deriver = Deriver()
    /// The time at which the file system was last asked for its free bytes.
    let measuredAt = Mutex<ContinuousClock.Instant?>(nil)

    /// Opens the directory and begins to watch it. Fails if another process has it open as its cache.
    public convenience init(_ settings: CacheSettings, logger: Logger) throws(CacheError) {
        try self.init(settings, logger: logger, kernel: Kernel())
    }

    init(_ settings: CacheSettings, logger: Logger, kernel: Kernel) throws(CacheError) {
        configured = Mutex(settings)
        naming = Mutex(settings.ignoredQueries)
        self.logger = logger
        failureLog = FailureLog(logger)
        // Names are computed with libcrypto. If it is missing, opening fails here rather than the first lookup.
        if let obstacle = CacheKey.obstacle {
            throw CacheError(.unsupported, "no name can be computed: \(obstacle)")
        }
        transfers = try TransferLoop()
        store = try settings.store.map { (store) throws(CacheError) in try StoreService(store) }
        maintenance = try Maintenance(kernel)
        directory = try CacheDirectory(
            path: settings.directory, mode: settings.directoryMode, kernel: kernel,
            sharesFiles: settings.sharesFiles,
            defaultFreshness: settings.transfers.caching.unknownLifetime)
        history = History(directory, logger)
        worker = DirectoryWorker(directory: directory, logger: logger)
        let state = CacheState(
            FetchingState(settings, budget: try directory.budget(settings.limits)))
        guarded = Mutex(Guarded(state: state, watch: Self.watch(directory, logger)))
        for limitation in directory.limitations {
            logger.warning("\(limitation)", metadata: ["directory": "\(settings.directory)"])
        }
    }

    /// The rules about queries.
    public var ignoredQueries: IgnoredQueries { naming.withLock { $0 } }

    /// The settings now. Some of the limits are shares of the size of the file system.
    var settings: CacheSettings { configured.withLock { $0 } }

    /// Applies new settings, except the directory. Entries that exceed the limits are evicted. Downloads that run
    /// keep the settings that they began with.
    ///
    /// - Throws: an error if the limits cannot be kept. Then nothing has changed.
    public func apply(_ settings: CacheSettings) throws(CacheError) {
        let budget = try directory.budget(settings.limits)
        configured.withLock { $0 = settings }
        naming.withLock { $0 = settings.ignoredQueries }
        directory.defaultFreshness.store(
            settings.transfers.caching.unknownLifetime, ordering: .relaxed)
        transfers.send(.configure(settings.transfers))
        store?.lookups.send(.configure(settings.transfers.forStore))
        run { state, effects in
            state.limitsSet(budget, &effects)
            state.fetching.configured(
                transferLimit: settings.transfers.transferLimit,
                originLimit: settings.transfers.transfersPerHost, retry: settings.retry,
                naming: settings.ignoredQueries, keepsGone: settings.keepsGone,
                permitsPrefetches: settings.permitsPrefetches, &effects)
        }
    }

    private static func watch(_ directory: CacheDirectory, _ logger: Logger) -> DirectoryWatch? {
        do {
            guard directory.fileSystemType?.isShared != true else {
                logger.notice(
                    """
                    the kernel does not report changes that other machines or programs make to this file \
                    system, so every lookup reads the file
                    """,
                    metadata: ["directory": "\(directory.path)"])
                return nil
            }
            return try DirectoryWatch(directory)
        } catch {
            logger.warning(
                """
                the directory can't be watched, so every lookup reads the file; \
                raise fs.inotify.max_user_watches or max_user_instances
                """,
                metadata: ["directory": "\(directory.path)", "error": "\(error)"])
            return nil
        }
    }

    /// Tries again to watch a directory that could not be watched when it was opened. The limits of inotify(7)
    /// may have been raised since.
    func watchIfBlind() {
        guard watchDescriptor == nil, directory.fileSystemType?.isShared == false else { return }
        do {
            var watch: DirectoryWatch? = try DirectoryWatch(directory)
            guarded.withLock { swap(&$0.watch, &watch) }
            logger.notice(
                "the directory is watched from now on", metadata: ["directory": "\(directory.path)"]
            )
        } catch {
            logger.debug(
                "the directory still can't be watched",
                metadata: ["directory": "\(directory.path)", "error": "\(error)"])
        }
    }

    /// Replaces the watch, after the path has come to lead to another directory.
    func watchDirectory() {
        var watch = Self.watch(directory, logger)
        guarded.withLock { swap(&$0.watch, &watch) }
    }

    /// Starts the threads and the first scan. Lookups work before the scan is complete.
    public func start(observer: any CacheObserver) {
        self.observer.withLock { $0 = observer }
        worker.start(self)
        transfers.start(settings.transfers, directory, logger, delegate: self)
        store?.start(self)
        if !startScan() { _ = scanFinished(isReadable: false) }
        maintenance.start(self)
        verifier.start(self)
    }

    /// Begins to shut down: running downloads stop and keep their partials, and waiting callers are notified.
    public func beginDraining() {
        run { $0.fetching.drainBegan(&$1) }
        verifier.stop()
        beginPostponed()
    }

    /// Shuts down. Images that are already staged are still published. Returns once all threads have ended.
    public func drain() {
        beginDraining()
        maintenance.finish()
        verifier.finish()
        deriver.finish()
        transfers.finish()
        store?.finishLookups()
        worker.finish()
        store?.finishWrites()
        scanner.withLock { $0.take() }?.thread.join()
        drainWatch()
        flushAccessTimes()
        for key in directory.unwritten.keys { writeUnwritten(key) }
        history.flush()
        directory.giveUp()
        summarizeFailures(all: true)
        observer.withLock { $0 = nil }
    }

    // MARK: The one lock

    /// Reads the state under the lock.
    func read<Answer>(_ body: (borrowing CacheState) -> Answer) -> Answer {
        guarded.withLock { body($0.state) }
    }

    /// Runs an event under the lock, and carries out its effects. Work for the cache's own threads is queued
    /// before the lock is released, so that the threads get it in the order it was decided. Callers are
    /// notified after that. Never blocks.
    ///
    /// - Parameters:
    ///   - place: the directory the event is about. If another directory has taken its place, no file there is
    ///     unlinked for the event. `nil` means the directory that names lead into now.
    ///   - end: the end of a transfer, which the event can decide to publish.
    @discardableResult
    func run<Answer>(
        in place: CacheDirectory.Identity? = nil, with end: TransferEnd? = nil,
        _ event: (inout CacheState, inout Effects) -> Answer
    ) -> Answer {
        var effects = Effects()
        let answer = guarded.withLock { guarded in
            let answer = event(&guarded.state, &effects)
            let isDownloading = guarded.state.fetching.isDownloading
            for work in effects.work {
                var end = end
                if case .publish(_, let key) = work, case .staged(let image) = end {
                    end = .staged(image.named(by: guarded.state.fetching.downloads[key]?.name))
                }
                queue(work, place, end, isDownloading: isDownloading)
            }
            return answer
        }
        deliver(effects)
        return answer
    }

    /// Applies all changes that other programs have made to the directory until now. There can be many, so the
    /// lock is released after each buffer of them.
    func drainWatch() {
        var backlog = DirectoryWatch.Backlog()
        while !backlog.isTaken {
            var effects = Effects()
            guarded.withLock { $0.drain(&effects, &backlog) }
            deliver(effects)
        }
    }

    /// Looks keys up in memory, under one hold of the lock. Adds the positions of the answers that memory does
    /// not hold to `unknown`.
    func lookUpInMemory(
        _ keys: ArraySlice<CacheKey>, _ view: LookupView, _ answers: inout [Lookup],
        unknown: inout [Int]
    ) {
        var effects = Effects()
        guarded.withLock { guarded in
            guarded.drain(&effects)
            guarded.state.fetching.lookup(keys, view, &answers, unknown: &unknown)
        }
        if !effects.isEmpty { deliver(effects) }
    }

    private func queue(
        _ work: Work, _ place: CacheDirectory.Identity?, _ end: TransferEnd?, isDownloading: Bool
    ) {
        switch work {
        case .findOriginal(let id, let key, let image):
            worker.enqueue(.run { self.findOriginal(of: key, id, image) })
        case .derive(let id, let key, let image, let source):
            deriver.enqueue(
                Derivation(flight: id, key: key, image: image, source: source), for: self)
        case .startTransfer(let id, let key, let url, let hints):
            transfers.send(.start(id, key, url, hints))
        case .cancelTransfer(let id, let key, let discardsPartial):
            transfers.send(.cancel(id, key, discardsPartial: discardsPartial))
        case .askStore(let id, let key, let url, let hints, let question):
            store?.lookups.send(.ask(id, key, url, hints, question))
        case .cancelLookup(let id, let key, let discardsPartial):
            store?.lookups.send(.cancel(id, key, discardsPartial: discardsPartial))
        case .wakeStoreWriter: store?.writer.wakeUp()
        case .discardPartial(let key): transfers.send(.discardPartial(key))
        case .publish, .confirm: publish(end, isDownloading: isDownloading)
        case .keepConfirmation:
            guard case .confirmed(let revalidation)? = end else {
                preconditionFailure("only the end of a transfer can confirm an entry")
            }
            keep(revalidation)
        case .adopt(let id, let key, let digest):
            worker.enqueue(.run { self.adopt(key, id, digest) })
        case .complete(let key, let url, let name):
            worker.enqueue(.run { self.complete(key, from: url, named: name) })
        case .unlink(let victim): worker.enqueue(.unlink(victim, in: place ?? directory.identity))
        case .evict(let goal): evict(Eviction(goal: goal, isOwn: true))
        case .planRetry, .planMeasurement: maintenance.wakeUp()
        }
    }

    private func publish(_ end: TransferEnd?, isDownloading: Bool) {
        switch end {
        case .staged(let image): worker.enqueue(.publish(image, mayWait: isDownloading))
        case .confirmed(let revalidation): worker.enqueue(.run { self.confirm(revalidation) })
        case .failed, .crowded, .notInStore, .originalNeeded, nil:
            preconditionFailure("only a transfer that succeeded can be published")
        }
    }

    private func deliver(_ effects: Effects) {
        if !effects.events.isEmpty {
            failureLog.take(effects.events)
            history.add(effects.events)
        }
        deliver(effects.notices)
    }

    private func deliver(_ notices: [Notice]) {
        guard !notices.isEmpty else { return }
        var outcomes: [Outcome] = []
        var (hasChanges, hasEnds) = (false, false)
        for notice in notices {
            switch notice {
            case .finish(let outcome) where verifier.takes(outcome): break
            case .finish(let outcome): outcomes.append(outcome)
            case .changesArrived: hasChanges = true
            case .endsArrived: hasEnds = true
            case .scanNeeded: startScan()
            case .store(let news): StoreLog(logger).report(news)
            }
        }
        guard !outcomes.isEmpty || hasChanges || hasEnds else { return }
        let observer = observer.withLock { $0 }
        if !outcomes.isEmpty { observer?.decided(outcomes) }
        if hasChanges { observer?.changesArrived() }
        if hasEnds { observer?.endsArrived() }
    }

    /// The directory is gone, or another one is in its place that cannot be used.
    func reportDirectoryGone() { observer.withLock { $0 }?.directoryGone() }

    /// Calls `body` once all work on the directory that is queued so far is done, and the work that follows
    /// from it. For example, an image that is removed during its publication is unlinked after it.
    func afterDirectoryWork(_ body: @escaping @Sendable () -> Void) {
        let worker = worker
        worker.enqueue(.run { worker.enqueue(.run(body)) })
    }

    /// Closes the idle connections to origins, also those that become idle within the next 5 s.
    public func closeIdleConnections() {
        transfers.send(.closeIdleConnections)
        store?.lookups.send(.closeIdleConnections)
    }

    /// Logs how many failures were left out of the log.
    func summarizeFailures(all: Bool = false) { failureLog.summarize(all) }

    /// Starts a thread that reads the directory. Returns `false` if no thread can be started, which the
    /// maintenance thread tries again, and during shutdown, when no call joins the thread.
    @discardableResult
    func startScan() -> Bool {
        scanner.withLock { scanner in
            guard !isDraining else { return false }
            let (previous, end) = (scanner?.thread, Latch())
            let thread = NamedThread(ifPossible: "scan") {
                previous?.join()
                Scan(cache: self, logger: self.logger).run()
                end.open()
            }
            guard let thread else {
                logger.warning(
                    "no thread can be started to read the directory; the daemon will try again")
                return false
            }
            scanner = (thread, end)
            return true
        }
    }

    /// Returns once the directory has been read, or the cache shuts down.
    func waitForScan() {
        scanner.withLock { $0?.end }?.wait()
    }

    /// Handles the end of a scan. Returns `false` if the scan has to be repeated.
    func scanFinished(isReadable: Bool) -> Bool {
        drainWatch()
        let isOver = guarded.withLock { guarded in
            let isWatched = isReadable && guarded.watch != nil
            return guarded.state.scanFinished(isWatched: isWatched)
        }
        if isOver {
            // An earlier measurement did not count the entries that the scan has found.
            measure()
            beginPostponed()
            run { state, effects in
                state.fetching.limitsChecked(&effects)
                state.fetching.spaceReleased(&effects)
            }
            discardOldPartials()
            evictUnused()
        }
        return isOver
    }

    /// Begins the work that was postponed until the directory is read: it is read now, or never will be.
    private func beginPostponed() {
        for begin in run({ state, _ in state.disk.takePostponed() }) { begin() }
    }

    /// The descriptor to poll for changes; `nil` if the directory is not watched.
    var watchDescriptor: Int32? {
        guarded.withLock { $0.watch?.descriptor }
    }
}

extension Cache.Guarded {
    /// Applies all changes that are waiting. This only marks names: no file is read under the lock.
    mutating func drain(_ effects: inout Effects) {
        watch?.drain { state.directoryChanged($0, now: .now, &effects) }
    }

    /// Applies at most one buffer of changes.
    mutating func drain(_ effects: inout Effects, _ backlog: inout DirectoryWatch.Backlog) {
        guard watch != nil else { return backlog.end() }
        watch?.drain(&backlog) { state.directoryChanged($0, now: .now, &effects) }
    }
}

extension FetchingState {
    fileprivate init(_ settings: CacheSettings, budget: Budget) {
        self.init(
            transferLimit: settings.transfers.transferLimit,
            originLimit: settings.transfers.transfersPerHost, budget: budget, retry: settings.retry,
            publishingLimit: settings.publishingLimit, detachedLimit: settings.detachedLimit,
            store: settings.store?.policy, naming: settings.ignoredQueries,
            keepsGone: settings.keepsGone, permitsPrefetches: settings.permitsPrefetches)
    }
}
