import CacheFetching
internal import Synchronization

/// Called with the progress of a verification, or with its result.
public typealias VerificationListener = @Sendable (Verification, VerificationReport) -> Void

/// One verification of all entries, from the request to the result.
public final class Verification: Sendable {
    /// Whether damaged entries are downloaded again, or removed.
    let repairs: Bool
    /// The client on whose behalf they are downloaded.
    let client: ClientID
    let onProgress: VerificationListener
    let onEnd: VerificationListener
    private let cancellation = Atomic(false)
    private let run = Mutex<VerificationRun?>(nil)

    init(
        repairs: Bool, client: ClientID,
        onProgress: @escaping VerificationListener, onEnd: @escaping VerificationListener
    ) {
        self.repairs = repairs
        self.client = client
        self.onProgress = onProgress
        self.onEnd = onEnd
    }

    var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

    /// Takes part in a run, or in none any more.
    func join(_ run: VerificationRun?) { self.run.withLock { $0 = run } }

    /// Ends the verification early. The files of entries that were found damaged stay removed.
    public func cancel() {
        cancellation.store(true, ordering: .relaxed)
        run.withLock { $0 }?.events.put(.cancelled)
    }
}
