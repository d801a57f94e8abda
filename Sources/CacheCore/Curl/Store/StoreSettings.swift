public import CacheModel

/// How a store that several machines share is used.
public struct StoreSettings: Sendable {
    public var location: StoreLocation
    public var credentials: StoreCredentialSource
    public var policy = StorePolicy()
    /// The time for writes that still wait when the daemon ends.
    public var flush = Duration.seconds(2)
    /// Bytes a second of all uploads together. `nil` for no limit.
    public var maximumRate: Int64?

    public init(location: StoreLocation, credentials: StoreCredentialSource) {
        (self.location, self.credentials) = (location, credentials)
    }
}
