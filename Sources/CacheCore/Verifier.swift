internal import CacheKey
internal import Synchronization
internal import SystemPackage

/// The thread that verifies: one verification after the other, its entries in batches.
final class Verifier: Sendable {
    private let inbox = Inbox<Verification>()
    private let thread = Mutex<NamedThread?>(nil)
    /// Who waits for a repair.
    private let waiting = Mutex<(id: WaiterID, verification: Verification)?>(nil)

    /// Entries held open at once.
    static let batch = 64
    /// Between two reports.
    static let pace = Duration.milliseconds(100)

    func start(_ cache: Cache) {
        thread.withLock { $0 = NamedThread("verify") { self.run(cache) } }
    }

    /// Queues a verification; after the end, it is over at once.
    func enqueue(_ verification: Verification) {
        if !inbox.put(verification) { verification.onEnd(verification, .shuttingDown) }
    }

    /// Ends the thread. The cache is draining, so what runs and what is queued is over soon.
    func finish() {
        inbox.close()
        thread.withLock { $0.take() }?.join()
    }

    private func run(_ cache: Cache) {
        while let verifications = inbox.takeAll() {
            for verification in verifications {
                verification.onEnd(verification, verify(verification, cache))
            }
        }
    }

    private func verify(_ verification: Verification, _ cache: Cache) -> VerificationReport {
        var report = VerificationReport()
        var rest: ArraySlice<CacheKey>
        guard cache.directory.isInPlace else {
            report.failure = cache.directory.lost
            return report
        }
        do {
            rest = try cache.directory.entryKeys()[...]
        } catch {
            report.failure = .unreadable(error, path: cache.directory.path)
            return report
        }
        report.total = rest.count
        var next = ContinuousClock.now
        while !rest.isEmpty, !verification.isCancelled, !cache.isDraining {
            guard cache.directory.isInPlace else {
                report.failure = cache.directory.lost
                return report
            }
            if next <= .now {
                verification.onProgress(verification, report)
                next = .now + Self.pace
            }
            cache.verify(rest.prefix(Self.batch), verification, &report)
            rest = rest.dropFirst(Self.batch)
        }
        return cache.isDraining ? .shuttingDown : report
    }

    // MARK: Waiting for a repair

    /// Waits for all of an interest to be decided, as it will be once `complete` is called; `nil` if the
    /// verification was cancelled before.
    func wait(
        for id: WaiterID, _ verification: Verification, complete: () -> Void
    ) -> Outcome? {
        waiting.withLock { $0 = (id, verification) }
        defer { waiting.withLock { $0 = nil } }
        complete()
        guard case .decided(let outcome)? = verification.events.takeAll()?.first else { return nil }
        return outcome
    }

    /// Whether an outcome is the one that is waited for here.
    func takes(_ outcome: Outcome) -> Bool {
        waiting.withLock { waiting in
            guard let waiting, waiting.id == outcome.waiter else { return false }
            waiting.verification.events.put(.decided(outcome))
            return true
        }
    }
}

extension VerificationReport {
    static let shuttingDown: VerificationReport = {
        var report = VerificationReport()
        report.failure = .shuttingDown
        return report
    }()
}
