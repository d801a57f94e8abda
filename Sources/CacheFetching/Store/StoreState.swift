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
    /// How long downloads from each origin usually take.
    private var usualDownloads: [Origin: Duration] = [:]
    package var queue = StoreQueue()
    /// Writes that run at once: as many as the store takes.
    package private(set) var writeLimit = Self.fewWrites
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

    package mutating func downloaded(from origin: Origin, in time: Duration) {
        let usual = usualDownloads[origin]
        // Their next images are claimed.
        if usual == nil, usualDownloads.count >= Self.knownOrigins { usualDownloads = [:] }
        usualDownloads[origin] = usual.map { ($0 * 7 + time) / 8 } ?? time
    }

    package func question(
        _ name: CacheURL, isAboutEntry: Bool, claims: Bool, isPatient: Bool
    ) -> StoreQuestion {
        StoreQuestion(
            name: name, naming: naming, isAboutEntry: isAboutEntry, claims: claims,
            leastLifetime: policy.renew, patience: pace.patience(isPatient, atMost: policy.timeout),
            lateTime: policy.timeout)
    }

    /// Whether missing images of an origin are claimed. If it is quick, that would take longer than the downloads that it
    /// saves.
    package func claims(from origin: Origin, isPrefetch: Bool) -> Bool {
        guard policy.writes, reads.reason == nil, writes.reason == nil else { return false }
        return isPrefetch || usualDownloads[origin].map { $0 >= Self.slowDownload } ?? true
    }

    private static let fewWrites = 4
    package static let mostWrites = 32

    /// A write succeeded. If as many ran as may, one more may run from now on.
    package mutating func wrote() {
        writes.succeeded()
        if writing.count + 1 >= writeLimit { writeLimit = min(writeLimit + 1, Self.mostWrites) }
    }

    /// A write was late, or the store failed.
    package mutating func wroteInVain() { writeLimit = max(writeLimit / 2, 1) }

    private static let slowDownload = Duration.milliseconds(100)
    private static let knownOrigins = 1024

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
