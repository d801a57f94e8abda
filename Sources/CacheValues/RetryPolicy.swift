/// Decides when a failed download is retried, and for how long a failure is remembered instead.
///
///     var policy = RetryPolicy()
///     policy.attempts = 2
///     policy.longestPause = .seconds(60)
public struct RetryPolicy: Hashable, Sendable {
    /// Attempts at one download, including the first.
    public var attempts = 4
    /// The pause before the second attempt. Each later pause is twice as long.
    public var firstPause = Duration.seconds(1)
    /// The upper bound of every pause and of the time a failure is remembered, even if a server asks for
    /// more.
    public var longestPause = Duration.seconds(300)
    /// `false` if a failure is forgotten at once, as in tests.
    package var remembersFailures = true

    /// Creates the policy with the defaults.
    public init() {}

    /// One attempt. Its failure is forgotten at once.
    package static let once = RetryPolicy(attempts: 1, remembersFailures: false)

    private init(attempts: Int, remembersFailures: Bool) {
        self.attempts = attempts
        self.remembersFailures = remembersFailures
    }

    /// The pause before the next attempt, or `nil` if there is no further attempt.
    ///
    /// The pause is random, between half of the exponential step and all of it: downloads that failed
    /// together should not be retried together. It is never shorter than `firstPause` or `Retry-After`.
    ///
    /// - Parameters:
    ///   - failure: the failure of the last attempt.
    ///   - attempts: the number of attempts made so far.
    ///   - retryAfter: seconds that the server asked for (RFC 9110 §10.2.3).
    ///   - random: the source of the random pause.
    package func pause(
        after failure: Failure, attempts: Int, retryAfter: Int64?,
        using random: inout some RandomNumberGenerator
    ) -> Duration? {
        guard failure.isTransient, attempts >= 1, attempts < self.attempts else { return nil }
        return pause(doubled: attempts - 1, retryAfter: retryAfter, using: &random)
    }

    /// The pause of a host that refused a request, chosen like the one of a download.
    ///
    /// - Parameter refusals: the number of pauses in a row after which the host refused again.
    package func hostPause(
        refusals: Int, retryAfter: Int64?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        pause(doubled: refusals, retryAfter: retryAfter, using: &random)
    }

    private func pause(
        doubled times: Int, retryAfter: Int64?, using random: inout some RandomNumberGenerator
    ) -> Duration {
        let step = min(firstPause * (2 << min(times, 20)), longestPause)
        let pause = max(step * Double.random(in: 0.5...1, using: &random), firstPause)
        return min(max(pause, .seconds(retryAfter ?? 0)), longestPause)
    }

    /// Seconds for which the cache answers with a failure instead of making a new attempt. 0 for a failure
    /// that says nothing about the next attempt.
    ///
    /// - Parameters:
    ///   - failure: the failure of the last attempt.
    ///   - serverDelay: seconds that the response itself named: `Retry-After`, or the explicit lifetime of a 404.
    ///   - isOffline: whether the machine has no network. That is not the origin's failure, and it can end
    ///     at any moment.
    package func negativeTTL(of failure: Failure, serverDelay: Int64?, isOffline: Bool) -> Int64 {
        guard remembersFailures, !isOffline else { return 0 }
        let seconds = failure.defaultNegativeTTL.map { serverDelay ?? $0 } ?? 0
        return min(max(seconds, 0), longestPause.components.seconds)
    }
}
