/// A transfer that failed, with what decides what comes next.
package struct FailedTransfer: Sendable {
    package var failure: Failure
    /// Seconds after which the response itself wants to be asked for again, or that it may be remembered.
    package var said: Int64?
    /// Whether the origin itself answered so, and not a proxy on the way to it.
    package var isOrigins = true
    /// Whether the machine has no network, which is no fault of the origin.
    package var isOffline = false
    /// Whether a stale entry may be the answer in spite of the failure.
    package var letsStaleServe = false

    package init(
        failure: Failure, said: Int64? = nil, isOrigins: Bool = true, isOffline: Bool = false,
        letsStaleServe: Bool = false
    ) {
        (self.failure, self.said, self.isOrigins) = (failure, said, isOrigins)
        (self.isOffline, self.letsStaleServe) = (isOffline, letsStaleServe)
    }
}
