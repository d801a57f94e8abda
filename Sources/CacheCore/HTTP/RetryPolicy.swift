/// When a failed download is tried again, and for how long a failure is remembered instead.
public struct RetryPolicy: Hashable, Sendable {
    /// Attempts at one download, the first included.
    public var attempts = 4
    /// The pause before the second attempt; each later one is twice as long.
    public var firstPause = Duration.seconds(1)
    /// No pause and no memory is longer, whatever a server asks for.
    public var longestPause = Duration.seconds(300)
    /// Off, a failure is forgotten at once.
    public var remembersFailures = true

    public init() {}

    /// One attempt, whose failure is forgotten at once.
    static let once = RetryPolicy(attempts: 1, remembersFailures: false)

    private init(attempts: Int, remembersFailures: Bool) {
        self.attempts = attempts
        self.remembersFailures = remembersFailures
    }

    /// The pause before the next attempt, or `nil` if there is none.
    ///
    /// Between half of the exponential step and all of it, so that those who failed together do not
    /// come back together; never shorter than `firstPause` nor than `Retry-After` asks for.
    ///
    /// - Parameters:
    ///   - attempts: Those made so far.
    ///   - retryAfter: Seconds the server asked for (RFC 9110 §10.2.3).
    func pause(
        after failure: Failure, attempts: Int, retryAfter: Int64?,
        using random: inout some RandomNumberGenerator
    ) -> Duration? {
        guard failure.isTransient, attempts >= 1, attempts < self.attempts else { return nil }
        let step = min(firstPause * (2 << min(attempts - 1, 20)), longestPause)
        let pause = max(step * Double.random(in: 0.5...1, using: &random), firstPause)
        return min(max(pause, .seconds(retryAfter ?? 0)), longestPause)
    }

    /// Seconds for which a failure is the answer without a new attempt; 0 for those that say nothing
    /// about the next attempt.
    ///
    /// - Parameters:
    ///   - said: What the response itself said: `Retry-After`, or an explicit lifetime of a 404.
    ///   - isOffline: The machine has no network: nobody's fault, and over at any moment.
    func memory(of failure: Failure, said: Int64?, isOffline: Bool) -> Int64 {
        guard remembersFailures, !isOffline else { return 0 }
        let seconds = failure.memoryClass.map { said ?? $0 } ?? 0
        return min(max(seconds, 0), longestPause.components.seconds)
    }
}

extension Failure {
    /// Whether another attempt a little later may succeed: connections that fail or break, time-outs,
    /// and statuses that say "not now".
    var isTransient: Bool {
        switch kind {
        case .unresolved, .unreachable, .timeout, .truncated: true
        case .http: httpStatus.map { $0 == 408 || $0 == 429 || 500..<600 ~= $0 } ?? false
        default: false
        }
    }

    /// Seconds a failure of this class is remembered; `nil` for what concerns only those who asked, or
    /// this machine. The table is in `docs/http-caching.md`.
    fileprivate var memoryClass: Int64? {
        switch kind {
        case .http: isTransient ? 10 : 60
        case .unresolved, .unreachable, .timeout, .truncated: 10
        case .tls, .redirect, .protocolError, .addressRefused: 60
        case .notAnImage, .tooLarge, .unverifiable: 300
        case .invalidURL, .digestMismatch, .obstructed, .damaged, .storage, .noRoom, .notCached,
            .removed, .shuttingDown:
            nil
        }
    }
}

extension CachingRules {
    /// What the response behind a failure says of the next attempt, in seconds: `Retry-After` where
    /// there may be one soon, else its own lifetime. Many a server forbids storing its error pages as
    /// such; that is no reason to press one that is failing.
    func statement(
        on failure: Failure, by head: ResponseHead, _ times: RequestTimes
    ) -> Int64? {
        failure.isTransient
            ? head.retryAfterSeconds(now: times.received) : statedLifetime(of: head, times)
    }
}

extension ResponseHead {
    /// Seconds until the server wants to be asked again; `nil` where it did not say, or not readably
    /// (RFC 9110 §10.2.3).
    func retryAfterSeconds(now: UnixTime) -> Int64? {
        guard let retryAfter else { return nil }
        if let seconds = Int64(deltaSeconds: retryAfter) { return seconds }
        return HTTPDate.parse(retryAfter, now: now).map { max($0 - now, 0) }
    }
}
