public import CacheFetching
package import CacheValues

/// How a store that several machines share is used.
public struct StoreSettings: Sendable {
    public var location: StoreLocation
    public var credentials: StoreCredentialSource
    public var policy = StorePolicy()
    /// The time for writes that still wait when the daemon ends.
    public var flush = Duration.seconds(2)
    /// Bytes a second of all uploads together. `nil` for no limit.
    public var maximumRate: Int64?
    /// The key by which this machine signs what it puts there.
    package var signing: SigningKey?
    /// The keys of those whose objects count. `nil` if all do.
    package var trusted: [VerifyingKey]?

    public init(location: StoreLocation, credentials: StoreCredentialSource) {
        (self.location, self.credentials) = (location, credentials)
    }
}
