import CacheFetching

/// The result of a check of the store.
public struct StoreCheck: Sendable {
    public let location: String
    public let endpoint: String
    /// `read-write`, `read` or `write`.
    public let mode: String
    /// Seconds that the clock of this machine is ahead of the store's.
    public internal(set) var clockDifference: Int64?
    /// How long each request took.
    public internal(set) var get: Duration?
    public internal(set) var put: Duration?
    public internal(set) var delete: Duration?
    /// Whether the store refuses to create an object a second time.
    public internal(set) var isCreationExclusive: Bool?
    /// The fault and its remedy. `nil` if the store works.
    public internal(set) var problem: String?

    let policy: StorePolicy

    init(_ settings: StoreSettings) {
        location = settings.location.description
        endpoint = settings.location.endpoint
        policy = settings.policy
        mode =
            switch (policy.reads, policy.writes) {
            case (true, false): "read"
            case (false, true): "write"
            default: "read-write"
            }
    }
}
