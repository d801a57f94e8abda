internal import CacheKey
import CacheModel
import CacheValues
internal import Synchronization
internal import SystemPackage

/// The thread that runs verifications, one after the other. Each checks the entries in batches.
final class Verifier: Sendable {
    private let inbox = Inbox<Verification>()
    private let thread = Mutex<NamedThread?>(nil)
    /// The verification that waits for a repair, and the request it waits for.
    private let waiting = Mutex<(id: WaiterID, verification: Verification)?>(nil)

    /// Entries in a batch, each with an open file. The names of one file are in one batch.
    static let batch = 64
    /// The time between two progress reports.
    static let reportInterval = Duration.milliseconds(100)

    func start(_ cache: Cache) {
        thread.withLock { $0 = NamedThread("verify") { self.run(cache) } }
    }

    /// Queues a verification. Once the thread has ended, the verification ends at once.
    func enqueue(_ verification: Verification) {
        if !inbox.put(verification) { verification.onEnd(verification, .shuttingDown) }
    }

    /// Ends the thread. The cache is draining, so the running and queued verifications end soon.
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
        do throws(Failure) {
            guard cache.directory.isInPlace else { throw cache.directory.lost }
            var rest = try files(of: cache.directory)[...]
            if verification.resumes, let done = cache.directory.verifiedUpTo {
                rest = rest.drop { $0.inode <= done }
            }
            report.total = rest.count
            var nextReport = ContinuousClock.now
            while !rest.isEmpty, !verification.isCancelled, !cache.isDraining {
                guard cache.directory.isInPlace else { throw cache.directory.lost }
                if nextReport <= .now {
                    verification.onProgress(verification, report)
                    nextReport = .now + Self.reportInterval
                }
                let batch = Self.batch(of: rest)
                cache.verify(batch, verification, &report)
                guard !verification.isCancelled, !cache.isDraining else { break }
                rest = rest.dropFirst(batch.count)
                if let done = batch.last { cache.directory.noteVerified(upTo: done.inode) }
            }
            if rest.isEmpty { cache.directory.noteVerified(upTo: nil) }
        } catch {
            report.failure = error
        }
        return cache.isDraining ? .shuttingDown : report
    }

    /// The next names, and all further ones of the last file.
    private static func batch(
        of files: ArraySlice<CacheDirectory.NamedFile>
    ) -> ArraySlice<CacheDirectory.NamedFile> {
        let start = files.prefix(batch)
        guard let last = start.last else { return start }
        let more = files.dropFirst(start.count).prefix { $0.inode == last.inode }
        return files.prefix(start.count + more.count)
    }

    private func files(
        of directory: CacheDirectory
    ) throws(Failure) -> [CacheDirectory.NamedFile] {
        do {
            return try directory.filesToVerify()
        } catch {
            throw .unreadable(error, path: directory.path)
        }
    }

    // MARK: Waiting for a repair

    /// Waits until all downloads of a request have ended; `nil` if the verification was cancelled before.
    /// `complete` makes the request complete, so that its outcome can arrive.
    func wait(
        for id: WaiterID, _ verification: Verification, complete: () -> Void
    ) -> Outcome? {
        waiting.withLock { $0 = (id, verification) }
        defer { waiting.withLock { $0 = nil } }
        complete()
        guard case .decided(let outcome)? = verification.events.takeAll()?.first else { return nil }
        return outcome
    }

    /// Takes an outcome if a repair waits for it; returns `false` if it belongs to another caller.
    func takes(_ outcome: Outcome) -> Bool {
        waiting.withLock { waiting in
            guard let waiting, waiting.id == outcome.waiter else { return false }
            waiting.verification.events.put(.decided(outcome))
            return true
        }
    }
}
