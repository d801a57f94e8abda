import CacheWire

/// One connection that fetches, with or without a display of how far it is.
struct FetchSession {
    let client: Client
    let display: ProgressDisplay?

    /// The display is redrawn that often even when nothing changed, for the moving parts of it.
    private static let tickMilliseconds: Int32 = 100

    /// Waits for the end of the fetch; returns the last state of all items, in order.
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
