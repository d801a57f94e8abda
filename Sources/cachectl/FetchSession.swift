import CacheWire

/// Fetches URLs over one connection, with or without a progress display.
struct FetchSession {
    let client: Client
    let display: InlineDisplay?

    /// The interval for redrawing the display when no reply arrives. The animations need it.
    private static let tickMilliseconds: Int32 = 100

    /// Waits until the fetch ends. Returns the final state of all items, in order.
    func fetch(_ parameters: Methods.Fetch.Parameters) throws -> [Item] {
        guard let display else {
            return try client.call(Methods.Fetch.self, parameters).items
        }
        defer { display.erase() }
        var replies = try client.stream(Methods.Fetch.self, parameters)
        let start = ContinuousClock.now
        var progress = FetchProgress(urls: parameters.urls)
        var last: [Item] = []
        while let reply = try replies.next() {
            last = reply.items
            progress.replied(last, now: start.duration(to: .now))
            repeat {
                draw(&progress, at: .now(since: start), on: display)
            } while try !replies.isReady(within: Self.tickMilliseconds)
        }
        return last
    }

    private func draw(
        _ progress: inout FetchProgress, at time: ScreenTime, on display: InlineDisplay
    ) {
        progress.advanced(to: time.elapsed)
        let view = FetchView(terminal: display.terminal, size: display.size, time: time)
        display.draw(view.lines(progress))
    }
}
