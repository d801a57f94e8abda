public import CacheKey
internal import Synchronization

/// An entry that is not what was fetched, and what became of it.
public struct DamagedEntry: Sendable {
    /// What was done about the damage.
    public enum End: Hashable, Sendable {
        /// Nothing, or nothing that helped: the file is there and no entry any more. Says what is wrong.
        case left(Failure)
        /// It was downloaded anew.
        case refetched
        /// Where it came from is not known, so it was removed.
        case removed
    }

    public let key: CacheKey
    /// Where it came from, if the file tells.
    public let url: String?
    public let damage: Damage
    public let end: End
}

/// How far a verification is, or what it has found.
public struct VerificationReport: Sendable {
    /// Entries there were at its beginning.
    public internal(set) var total = 0
    /// Of these, those compared with what was written down, or found to be damaged without that.
    public internal(set) var checked = 0
    /// Those damaged, and those of them that are still.
    public internal(set) var damagedCount = 0
    public internal(set) var leftCount = 0
    /// The damaged ones; the first ``limit`` of them.
    public internal(set) var damaged: [DamagedEntry] = []
    /// Why there is no result, or not of all entries; `nil` where there is.
    public internal(set) var failure: Failure?

    /// Damaged entries that are named.
    static let limit = 10_000

    /// Nothing is done yet.
    public init() {}

    mutating func add(_ entry: DamagedEntry) {
        damagedCount += 1
        if case .left = entry.end { leftCount += 1 }
        if damaged.count < Self.limit { damaged.append(entry) }
    }
}

/// Hears of a verification.
public typealias VerificationListener = @Sendable (Verification, VerificationReport) -> Void

/// One verification of all entries, from the asking to its end.
public final class Verification: Sendable {
    /// What ends the waiting for a repair.
    enum Event: Sendable {
        case decided(Outcome)
        case cancelled
    }

    /// Damaged entries are downloaded anew, or removed.
    let repairs: Bool
    /// On whose behalf.
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

    /// Nobody wants the result any more. What was found stays found.
    public func cancel() {
        cancellation.store(true, ordering: .relaxed)
        events.put(.cancelled)
    }
}

extension Failure {
    static func damaged(_ damage: Damage, _ more: String = "") -> Failure {
        Failure(.damaged, damage.description + more)
    }
}
