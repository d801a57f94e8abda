package import CacheKey
package import CacheValues

/// The state of the store that several machines share: whether it can be used, the open questions,
/// and the images that wait to be written to it.
package struct StoreState: Sendable {
    package var policy: StorePolicy
    /// The rules that shorten the names of images.
    package var naming: IgnoredQueries
    package var reads = StoreBreaker()
    package var writes = StoreBreaker()
    package var lookups = StoreLookups()
    package var pace = StorePace()
    /// How long downloads from origins usually take. `nil` before the first.
    private var usualDownload: Duration?
    package var queue = StoreQueue()
    /// The keys of the writes under way. One key is written by one request at a time.
    package var writing: Set<CacheKey> = []
    /// Writes that failed and are tried again.
    package var delayed: [(due: ContinuousClock.Instant, task: StoreTask)] = []
    /// Keys whose images were not for others the last time.
    package var unshareable = Recent<CacheKey>(capacity: 16_384)
    /// Origins that are others on other networks.
    package var localOrigins = Recent<Origin>(capacity: 1024)
    package var counters = StoreCounters()
    /// Whether any request has succeeded.
    package var hasSucceeded = false
    /// Whether the store has said of an object that it is missing.
    package var showsMissing = false
    /// Whether the store does not say that an object is missing, and this was noticed.
    package var hidesMissing = false
    /// Whether this machine has left its mark, which tells others that the place is right.
    package var isMarked = false
    /// The last failure, in the store's words if it had any, and its time.
    package var lastError: String?
    package var lastErrorAt: UnixTime?

    package init(_ policy: StorePolicy, _ naming: IgnoredQueries) {
        (self.policy, self.naming) = (policy, naming)
    }

    /// Whether a new download of a key asks the store first.
    package func answers(for key: CacheKey) -> Bool {
        policy.reads && reads.admits && !unshareable.contains(key)
    }

    package mutating func downloaded(in time: Duration) {
        usualDownload = usualDownload.map { ($0 * 7 + time) / 8 } ?? time
    }

    package func question(
        _ name: CacheURL, isAboutEntry: Bool, isPrefetch: Bool, isAwaited: Bool
    ) -> StoreQuestion {
        // If origins are quick, a claim would take longer than the download that it saves.
        let isSlow = usualDownload.map { $0 >= Self.slowDownload } ?? true
        return StoreQuestion(
            name: name, naming: naming, isAboutEntry: isAboutEntry,
            claims: policy.writes && writes.reason == nil && (isPrefetch || isSlow),
            leastLifetime: policy.renew,
            patience: pace.patience(isPrefetch || isAwaited, atMost: policy.timeout))
    }

    /// The time for which a download waits for another machine: twice that of a usual one, but not longer than a person
    /// does, or a claim holds.
    package func longestWait(_ urgency: Priority) -> Duration {
        guard urgency != .visible else { return .seconds(1) }
        return min(max(.seconds(1), (usualDownload ?? .zero) * 2), .seconds(StoreClaim.lifetime))
    }

    private static let slowDownload = Duration.milliseconds(100)

    /// Whether the store lets this machine in neither for questions nor for writes, or not for one of them.
    package var isRefused: Bool { reads.reason == .refused || writes.reason == .refused }

    /// When something is due although nothing happens. `nil` if nothing is.
    package var nextEvent: ContinuousClock.Instant? {
        [reads.end, writes.end, delayed.lazy.map(\.due).min()].compactMap(\.self).min()
    }

    package mutating func note(_ error: String, at time: UnixTime) {
        (lastError, lastErrorAt) = (error, time)
    }

    package mutating func note(_ refusal: StoreRefusal, at time: UnixTime) {
        note("\(refusal.code): \(refusal.remedy)", at: time)
    }
}
