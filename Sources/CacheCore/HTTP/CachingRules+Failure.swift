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
