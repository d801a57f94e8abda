/// How a caller wants its images.
public struct FetchOptions: Sendable {
    public var priority: Priority
    /// Ask the origin even for images that are cached and fresh.
    public var isRefresh: Bool
    /// On whose behalf. Clients with requests of one priority take turns.
    public var client: ClientID
    /// The caller whose place this one takes. Images that one waited for and has are not asked for again.
    public var predecessor: WaiterID?

    public init(
        priority: Priority = .normal, isRefresh: Bool = false, client: ClientID = .daemon,
        predecessor: WaiterID? = nil
    ) {
        self.priority = priority
        self.isRefresh = isRefresh
        self.client = client
        self.predecessor = predecessor
    }
}
