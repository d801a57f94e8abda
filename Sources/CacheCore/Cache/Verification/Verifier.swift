import CLinux
import CacheFetching
internal import CacheKey
import CacheValues
internal import Synchronization
internal import SystemPackage

/// The thread that runs verifications, in batches of entries. Those that wait while it reads are one run after that: they
/// cannot join the one before, which has passed entries that were whole then.
final class Verifier: Sendable {
    private let inbox = Inbox<Verification>()
    private let thread = Mutex<NamedThread?>(nil)
    private let isStopping = Atomic(false)
    /// The run that waits for a repair, and the request it waits for.
    private let waiting = Mutex<(id: WaiterID, run: VerificationRun)?>(nil)

    /// Entries in a batch. The damaged ones among them are downloaded together.
    static let batch = 64
    /// The time between two progress reports.
    static let reportInterval = Duration.milliseconds(100)

    func start(_ cache: Cache) {
        thread.withLock { thread in
            thread = NamedThread("verify") {
                clinux_lower_priority()
                self.run(cache)
            }
        }
    }

    /// Queues a verification. Once the thread has ended, the verification ends at once.
    func enqueue(_ verification: Verification) {
        if !inbox.put(verification) { verification.onEnd(verification, .shuttingDown) }
    }

    /// The running and queued verifications end soon.
    func stop() {
        isStopping.store(true, ordering: .relaxed)
    }

    /// Whether a run ends before all entries are read. Takes no lock.
    func ends(_ run: VerificationRun) -> Bool {
        run.isCancelled || isStopping.load(ordering: .relaxed)
    }

    /// Ends the thread, after ``stop()``.
    func finish() {
        inbox.close()
        thread.withLock { $0.take() }?.join()
    }

    private func run(_ cache: Cache) {
        while let verifications = inbox.takeAll() {
            for repairs in [true, false] {
                let members = verifications.filter { $0.repairs == repairs }
                guard !members.isEmpty else { continue }
                let run = VerificationRun(members)
                run.ended(verify(run, cache))
            }
        }
    }

    private func verify(_ run: VerificationRun, _ cache: Cache) -> VerificationReport {
        var report = VerificationReport()
        do throws(Failure) {
            guard cache.directory.isInPlace else { throw cache.directory.lost }
            let keys = try keys(in: cache.directory)
            report.total = keys.count
            var reader = EntryReader(cache.directory)
            var nextReport = ContinuousClock.now
            for batch in keys.chunks(ofCount: Self.batch) {
                guard !ends(run) else { break }
                guard cache.directory.isInPlace else { throw cache.directory.lost }
                if nextReport <= .now {
                    run.progressed(report)
                    nextReport = .now + Self.reportInterval
                }
                cache.verify(batch, &reader, run, &report)
            }
        } catch {
            report.failure = error
        }
        return isStopping.load(ordering: .relaxed) ? .shuttingDown : report
    }

    private func keys(in directory: CacheDirectory) throws(Failure) -> [CacheKey] {
        do {
            return try directory.entryKeysByInode()
        } catch {
            throw .unreadable(error, path: directory.path)
        }
    }

    // MARK: Waiting for a repair

    /// Waits until all downloads of a request have ended; `nil` if the run was cancelled before.
    /// `complete` makes the request complete, so that its outcome can arrive.
    func wait(
        for id: WaiterID, _ run: VerificationRun, complete: () -> Void
    ) -> Outcome? {
        waiting.withLock { $0 = (id, run) }
        defer { waiting.withLock { $0 = nil } }
        complete()
        while !run.isCancelled {
            for case .decided(let outcome) in run.events.takeAll() ?? [] { return outcome }
        }
        return nil
    }

    /// Takes an outcome if a repair waits for it; returns `false` if it belongs to another caller.
    func takes(_ outcome: Outcome) -> Bool {
        waiting.withLock { waiting in
            guard let waiting, waiting.id == outcome.waiter else { return false }
            waiting.run.events.put(.decided(outcome))
            return true
        }
    }
}
