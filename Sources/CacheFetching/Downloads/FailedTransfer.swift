package import CacheValues

/// A failed transfer, with the facts that decide whether it is retried and how callers are answered.
package struct FailedTransfer: Sendable {
    package var failure: Failure
    /// Seconds that the response itself named: the time until a retry, or the time for which the
    /// failure can be remembered.
    package var serverDelay: Int64?
    /// Whether the origin itself gave the answer, rather than a proxy on the way to it.
    package var isFromOrigin = true
    /// Whether the machine has no network, which is not the origin's failure.
    package var isOffline = false
    /// Whether the next attempt continues a partial that has at least a hundredth of the image more than before.
    package var hasProgressed = false
    /// Whether a stale entry can be the answer in spite of the failure.
    package var allowsStaleIfError = false

    package init(
        failure: Failure, serverDelay: Int64? = nil, isFromOrigin: Bool = true,
        isOffline: Bool = false,
        allowsStaleIfError: Bool = false
    ) {
        (self.failure, self.serverDelay, self.isFromOrigin) = (failure, serverDelay, isFromOrigin)
        (self.isOffline, self.allowsStaleIfError) = (isOffline, allowsStaleIfError)
    }
}
