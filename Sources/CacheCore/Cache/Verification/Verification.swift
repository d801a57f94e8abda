import CacheModel
internal import Synchronization

/// Called with the progress of a verification, or with its result.
public typealias VerificationListener = @Sendable (Verification, VerificationReport) -> Void

/// One verification of all entries, from the request to the result.
public final class Verification: Sendable {
    /// Ends the wait for a repair.
    enum Event: Sendable {
        case decided(Outcome)
        case cancelled
    }

    /// Whether damaged entries are downloaded again, or removed.
    let repairs: Bool
    /// The client on whose behalf they are downloaded.
    let client: ClientID
    let onProgress: VerificationListener
    let onEnd: VerificationListener
    let events = Inbox<Event>()
    private let cancellation = Atomic(false)

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

    /// Ends the verification early. The files of entries that were found damaged stay removed.
    public func cancel() {
        cancellation.store(true, ordering: .relaxed)
        events.put(.cancelled)
    }
}
