/// A failed transfer, with the facts that decide whether it is retried and how callers are answered.
package struct FailedTransfer: Sendable {
    package var failure: Failure
    /// Seconds that the response itself named: the time until a retry, or the time for which the
    /// failure can be remembered.
    package var said: Int64?
    /// Whether the origin itself gave the answer, rather than a proxy on the way to it.
    package var isOrigins = true
    /// Whether the machine has no network, which is not the origin's failure.
    package var isOffline = false
    /// Whether a stale entry can be the answer in spite of the failure.
    package var letsStaleServe = false

    package init(
        failure: Failure, said: Int64? = nil, isOrigins: Bool = true, isOffline: Bool = false,
        letsStaleServe: Bool = false
    ) {
        (self.failure, self.said, self.isOrigins) = (failure, said, isOrigins)
        (self.isOffline, self.letsStaleServe) = (isOffline, letsStaleServe)
    }
}
