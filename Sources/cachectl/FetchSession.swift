import CacheWire

/// Fetches URLs over one connection, with or without a progress display.
struct FetchSession {
    let client: Client
    let display: ProgressDisplay?

    /// The interval for redrawing the display when no reply arrives. The animations need it.
    private static let tickMilliseconds: Int32 = 100

    /// Waits until the fetch ends. Returns the final state of all items, in order.
    func fetch(_ parameters: Methods.Fetch.Parameters) throws -> [Item] {
        guard let display else {
            return try client.call(Methods.Fetch.self, parameters).items
        }
        defer { display.erase() }
        var replies = try client.stream(Methods.Fetch.self, parameters)
        var last: [Item] = []
        display.begin(parameters.urls)
        while let reply = try replies.next() {
            last = reply.items
            display.update(last)
            while try !replies.isReady(within: Self.tickMilliseconds) {
                display.tick()
            }
        }
        return last
    }
}
