package import CacheValues

extension CachingRules {
    /// Seconds until the next attempt, as the failed response asks for: its `Retry-After` if the failure is
    /// transient, otherwise its own lifetime.
    ///
    /// A `no-store` does not count for a transient failure. Many servers send it with every error page, and
    /// that is no reason to send more requests to a server that fails.
    package func statement(
        on failure: Failure, by head: ResponseHead, _ times: RequestTimes
    ) -> Int64? {
        failure.isTransient
            ? head.retryAfterSeconds(now: times.received) : statedLifetime(of: head, times)
    }

    /// Seconds for which an error response can be repeated instead of asked for again (RFC 9111 §4). `nil` if
    /// it does not say so.
    ///
    /// A response that must not be stored does not count: the cache remembers that there is no image, not the
    /// response. A response after a redirect does not count either, because it says nothing about the
    /// redirect.
    func statedLifetime(of head: ResponseHead, _ times: RequestTimes) -> Int64? {
        guard permitsStoring(head), head.redirects.isEmpty else { return nil }
        let freshness = freshness(of: head, times)
        return freshness.terms.isGuessed ? nil : max(freshness.until - times.received, 0)
    }
}
