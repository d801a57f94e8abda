public import CacheValues

/// The options of a caller's request.
public struct FetchOptions: Sendable {
    public var priority: Priority
    /// Whether to ask the origin even about images that are cached and fresh.
    public var isRefresh: Bool
    /// The client that the request is for. Clients whose requests have the same priority take turns.
    public var client: ClientID
    /// Callers that this one replaces or takes images from. An image that was already given to one of
    /// them is not requested again.
    public var predecessors: [WaiterID]
    /// The failed attempts after which the caller takes the failure. The download goes on for others. `nil` if the retry
    /// policy decides.
    public var attempts: Int?
    /// When the caller takes a failure for the images that have not come. The downloads go on for others.
    public var deadline: ContinuousClock.Instant?
    /// Whether the caller says by ``Cache/reported(_:)`` when it has passed its outcome on. Until then the images that it was
    /// given are evicted last. Otherwise they are until it has its outcome.
    public var isHeld: Bool
    /// The digest that the image has to have, if the caller knows it. Any entry with these bytes will do.
    public var digest: ContentDigest?

    public init(
        priority: Priority = .normal, isRefresh: Bool = false, client: ClientID = .daemon,
        predecessors: [WaiterID] = [], attempts: Int? = nil,
        deadline: ContinuousClock.Instant? = nil, isHeld: Bool = false,
        digest: ContentDigest? = nil
    ) {
        self.priority = priority
        self.isRefresh = isRefresh
        self.client = client
        self.predecessors = predecessors
        self.attempts = attempts
        self.deadline = deadline
        self.isHeld = isHeld
        self.digest = digest
    }
}
