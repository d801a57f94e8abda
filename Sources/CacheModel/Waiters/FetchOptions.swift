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
    /// The digest that the image has to have, if the caller knows it. Any entry with these bytes will do.
    public var digest: ContentDigest?

    public init(
        priority: Priority = .normal, isRefresh: Bool = false, client: ClientID = .daemon,
        predecessors: [WaiterID] = [], digest: ContentDigest? = nil
    ) {
        self.priority = priority
        self.isRefresh = isRefresh
        self.client = client
        self.predecessors = predecessors
        self.digest = digest
    }
}
