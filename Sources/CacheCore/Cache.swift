internal import CacheKey
public import Logging
internal import Synchronization
internal import SystemPackage

/// An image cache in a directory: one download a URL however many ask, published whole.
///
/// Thread-safe. One lock guards one state; no call waits under it for a disk, a network or a foreign
/// function. A question costs well below a microsecond and is never held up by downloads, removals or
/// the scan of the directory.
public final class Cache: Sendable {
    /// What the one lock guards.
    struct Guarded: ~Copyable, Sendable {
        var state: CacheState
        /// `nil` where the machine has no watch to give: then every name is looked at when asked for.
        var watch: DirectoryWatch?
    }

    let directory: CacheDirectory
    let settings: CacheSettings
    let logger: Logger
    private let guarded: Mutex<Guarded>
    let worker: DirectoryWorker
    private let transfers: TransferLoop
    private let observer = Mutex<(any CacheObserver)?>(nil)
    private let scanner = Mutex<(thread: NamedThread, end: Latch)?>(nil)
    let upkeep: Maintenance
    let verifier = Verifier()
    /// What may be used, as configured: some of it is a share of the file system.
    let limits: Mutex<Limits>
    /// When the file system was last asked for its free bytes.
    let measuredAt = Mutex<ContinuousClock.Instant?>(nil)

    /// Publications that are entered under one hold of the lock.
    private static let publishedStretch = 8

    /// Opens the directory and begins to watch it. Fails if another process holds it.
    public convenience init(_ settings: CacheSettings, logger: Logger) throws(CacheError) {
        try self.init(settings, logger: logger, kernel: Kernel())
    }

    init(_ settings: CacheSettings, logger: Logger, kernel: Kernel) throws(CacheError) {
        self.settings = settings
        self.logger = logger
        limits = Mutex(settings.limits)
        // Without libcrypto nothing has a name: better to say so now than at the first question.
        try SHA256.canBeComputed()
        transfers = try TransferLoop()
        upkeep = try Maintenance(kernel)
        directory = try CacheDirectory(
            path: settings.directory, mode: settings.directoryMode, kernel: kernel)
        worker = DirectoryWorker(directory: directory, logger: logger)
        let state = CacheState(
            transferLimit: settings.transfers.transferLimit,
            hostLimit: settings.transfers.transfersPerHost,
            budget: try directory.budget(settings.limits), retry: settings.retry,
            publishingLimit: settings.publishingLimit, detachedLimit: settings.detachedLimit)
        guarded = Mutex(Guarded(state: state, watch: Self.watch(directory, logger)))
        if !directory.keepsAttributes {
            logger.warning(
                "the file system keeps no user attributes, so entries can't be revalidated",
                metadata: ["directory": "\(settings.directory)"])
        }
        if !directory.isTagged {
            logger.warning(
                """
                the disk is full: CACHEDIR.TAG could not be written, so backups may take the cache \
                along; make room, and the next start writes it
                """,
                metadata: ["directory": "\(settings.directory)"])
        }
    }

    private static func watch(_ directory: CacheDirectory, _ logger: Logger) -> DirectoryWatch? {
        do {
            guard directory.fileSystemType?.isShared != true else {
                logger.notice(
                    """
                    the file system may be changed by other machines or programs without a word of it, so \
                    every question costs a look at the file
                    """,
                    metadata: ["directory": "\(directory.path)"])
                return nil
            }
            return try DirectoryWatch(directory)
        } catch {
            logger.warning(
                """
                the directory can't be watched, so every question costs a look at the file; \
                raise fs.inotify.max_user_watches or max_user_instances
                """,
                metadata: ["directory": "\(directory.path)", "error": "\(error)"])
            return nil
        }
    }

    /// Tries to watch a directory that could not be watched when it was opened: somebody may have raised the
    /// limits.
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

    /// Watches the directory anew, once names lead into another.
    func watchDirectory() {
        var watch = Self.watch(directory, logger)
        guarded.withLock { swap(&$0.watch, &watch) }
    }

    /// Starts the threads and the first scan. Questions may be asked before it is through.
    public func start(observer: any CacheObserver) {
        self.observer.withLock { $0 = observer }
        worker.start(
            DirectoryWorker.Owner(
                pinned: { keys in
                    self.read { state in Set(keys.filter { state.isPinned($0) }) }
                },
                onPublished: { publications in
                    self.drainWatch()
                    var disturbed: [CacheKey] = []
                    var rest = publications[...]
                    while !rest.isEmpty {
                        let stretch = rest.prefix(Self.publishedStretch)
                        rest = rest.dropFirst(stretch.count)
                        self.run { state, effects in
                            for publication in stretch { state.published(publication, &effects) }
                            disturbed += stretch.lazy.map(\.key).filter {
                                state.catalog.dirtyNames.contains($0)
                            }
                        }
                    }
                    // They are looked at now, which keeps the next question quick.
                    _ = self.lookup(disturbed)
                },
                makeRoom: { key, bytes in self.makeRoom(for: key, bytes) },
                onUnlinked: { victim, isGone in
                    self.run { state, effects in
                        if isGone {
                            state.unlinked([victim], &effects)
                        } else {
                            state.unlinkFailed([victim], othersCould: false, &effects)
                        }
                    }
                }))
        transfers.start(settings.transfers, directory, logger, delegate: self)
        if !startScan() { _ = scanFinished(isReadable: false) }
        upkeep.start(self)
        verifier.start(self)
    }

    /// Begins to end: running downloads stop with their partials kept, and whoever waits hears of it.
    public func beginDraining() {
        run { $0.drainBegan(&$1) }
        beginPostponed()
    }

    /// Ends: staged images are still published. Returns once all threads are done.
    public func drain() {
        beginDraining()
        upkeep.finish()
        verifier.finish()
        transfers.finish()
        worker.finish()
        scanner.withLock { $0.take() }?.thread.join()
        drainWatch()
        flushAccessTimes()
        directory.giveUp()
        observer.withLock { $0 = nil }
    }

    // MARK: The one lock

    /// Reads the state under the lock.
    func read<Answer>(_ body: (borrowing CacheState) -> Answer) -> Answer {
        guarded.withLock { body($0.state) }
    }

    /// Runs an event under the lock, and carries out what it decided. Work for the cache's own threads is
    /// queued before the lock is released, so that they get it in the order it was decided; callers hear
    /// after that. Nothing is waited for.
    ///
    /// - Parameters:
    ///   - place: the directory the event is about; files in another one that took its place are not
    ///     unlinked for it. `nil` for the one that names lead into.
    ///   - end: the end of a transfer, which the event may decide to publish.
    @discardableResult
    func run<Answer>(
        in place: CacheDirectory.Identity? = nil, with end: TransferEnd? = nil,
        _ event: (inout CacheState, inout Effects) -> Answer
    ) -> Answer {
        var effects = Effects()
        let answer = guarded.withLock { guarded in
            let answer = event(&guarded.state, &effects)
            let isDownloading = guarded.state.isDownloading
            for work in effects.work { queue(work, place, end, isDownloading: isDownloading) }
            return answer
        }
        deliver(effects.notices)
        return answer
    }

    /// Takes in what others did to the directory until now. There may be much of it, so the lock is released
    /// in between.
    func drainWatch() {
        var backlog = DirectoryWatch.Backlog()
        while !backlog.isTaken {
            var effects = Effects()
            guarded.withLock { $0.drain(&effects, &backlog) }
            deliver(effects.notices)
        }
    }

    /// Answers from memory what can be, under one hold of the lock. Adds the places of the other answers to
    /// `unknown`.
    func lookUpInMemory(
        _ keys: ArraySlice<CacheKey>, _ view: LookupView, _ answers: inout [Lookup],
        unknown: inout [Int]
    ) {
        var effects = Effects()
        guarded.withLock { guarded in
            guarded.drain(&effects)
            guarded.state.lookup(keys, view, &answers, unknown: &unknown)
        }
        if !effects.notices.isEmpty { deliver(effects.notices) }
    }

    private func queue(
        _ work: Work, _ place: CacheDirectory.Identity?, _ end: TransferEnd?, isDownloading: Bool
    ) {
        switch work {
        case .startTransfer(let id, let key, let url, let hints):
            transfers.send(.start(id, key, url, hints))
        case .cancelTransfer(let id, let key, let discardsPartial):
            transfers.send(.cancel(id, key, discardsPartial: discardsPartial))
        case .discardPartial(let key): transfers.send(.discardPartial(key))
        case .publish, .confirm: publish(end, isDownloading: isDownloading)
        case .unlink(let victim): worker.enqueue(.unlink(victim, in: place ?? directory.identity))
        case .evict(let goal): evict(Eviction(goal: goal, isOwn: true))
        case .planRetry: upkeep.wakeUp()
        }
    }

    private func publish(_ end: TransferEnd?, isDownloading: Bool) {
        switch end {
        case .staged(let image): worker.enqueue(.publish(image, mayWait: isDownloading))
        case .confirmed(let revalidation): worker.enqueue(.run { self.confirm(revalidation) })
        case .failed, nil: preconditionFailure("there is nothing to publish")
        }
    }

    private func deliver(_ notices: [Notice]) {
        guard !notices.isEmpty else { return }
        var outcomes: [Outcome] = []
        var hasChanges = false
        for notice in notices {
            switch notice {
            case .finish(let outcome) where verifier.takes(outcome): break
            case .finish(let outcome): outcomes.append(outcome)
            case .changesArrived: hasChanges = true
            case .scanNeeded: startScan()
            }
        }
        guard !outcomes.isEmpty || hasChanges else { return }
        let observer = observer.withLock { $0 }
        if !outcomes.isEmpty { observer?.decided(outcomes) }
        if hasChanges { observer?.changesArrived() }
    }

    /// Calls `body` once all work on the directory decided so far is done, and what that leads to:
    /// an image removed while it is being published is unlinked after it.
    func afterDirectoryWork(_ body: @escaping @Sendable () -> Void) {
        let worker = worker
        worker.enqueue(.run { worker.enqueue(.run(body)) })
    }

    func closeIdleConnections() {
        transfers.send(.closeIdleConnections)
    }

    /// Has the directory read; `false` where no thread can be started for it, which upkeep tries again, and at
    /// the end, when nobody would wait for it.
    @discardableResult
    func startScan() -> Bool {
        scanner.withLock { scanner in
            guard !isDraining else { return false }
            let (previous, end) = (scanner?.thread, Latch())
            let thread = NamedThread(ifPossible: "scan") {
                // It may not be through with what follows its reading.
                previous?.join()
                Scan(cache: self, logger: self.logger).run()
                end.open()
            }
            guard let thread else {
                logger.warning("no thread can be started to read the directory; to be tried again")
                return false
            }
            scanner = (thread, end)
            return true
        }
    }

    /// Returns once the directory is read, or the cache drains.
    func waitForScan() {
        scanner.withLock { $0?.end }?.wait()
    }

    /// The scan is through; `false` if it has to be repeated.
    func scanFinished(isReadable: Bool) -> Bool {
        drainWatch()
        let isOver = guarded.withLock { guarded in
            let isWatched = isReadable && guarded.watch != nil
            return guarded.state.scanFinished(isWatched: isWatched)
        }
        if isOver {
            // What was measured before did not know of what is there.
            measure()
            beginPostponed()
            run { state, effects in
                state.limitsChecked(&effects)
                state.spaceReleased(&effects)
            }
            discardOldPartials()
        }
        return isOver
    }

    /// The directory is read, or will not be: what waited for that begins.
    private func beginPostponed() {
        for begin in run({ state, _ in state.takePostponed() }) { begin() }
    }

    /// What to wait on for changes; `nil` where there is no watch.
    var watchDescriptor: Int32? {
        guarded.withLock { $0.watch?.descriptor }
    }
}

extension Cache.Guarded {
    /// Takes in all changes that are waiting. Only marks names; nothing is looked at under the lock.
    mutating func drain(_ effects: inout Effects) {
        watch?.drain { state.directoryChanged($0, now: .now, &effects) }
    }

    /// The same for a buffer full of them.
    mutating func drain(_ effects: inout Effects, _ backlog: inout DirectoryWatch.Backlog) {
        guard watch != nil else { return backlog.end() }
        watch?.drain(&backlog) { state.directoryChanged($0, now: .now, &effects) }
    }
}
