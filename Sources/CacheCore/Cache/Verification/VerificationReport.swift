import CacheFetching
public import CacheValues

/// The progress of a verification, or its result.
public struct VerificationReport: Sendable {
    /// The number of entries at its beginning.
    public internal(set) var total = 0
    /// The entries of these that were compared with their attributes, or found damaged without that.
    public internal(set) var checked = 0
    public internal(set) var damagedCount = 0
    /// The damaged entries that were not repaired.
    public internal(set) var leftCount = 0
    /// The first ``limit`` damaged entries.
    public internal(set) var damaged: [DamagedEntry] = []
    /// Why there is no result, or not for every entry.
    public internal(set) var failure: Failure?

    /// The number of damaged entries that are named.
    static let limit = 10_000

    /// Nothing is done yet.
    public init() {}

    mutating func add(_ entry: DamagedEntry) {
        damagedCount += 1
        if case .left = entry.end { leftCount += 1 }
        if damaged.count < Self.limit { damaged.append(entry) }
    }

    /// Records why an entry could not be checked. The first failure is kept.
    mutating func add(_ failure: Failure) {
        self.failure = self.failure ?? failure
    }

    static let shuttingDown: VerificationReport = {
        var report = VerificationReport()
        report.failure = .shuttingDown
        return report
    }()
}
