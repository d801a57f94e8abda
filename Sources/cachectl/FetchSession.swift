import CacheWire

/// Fetches URLs over one connection, with or without a progress display.
struct FetchSession {
    let client: Client
    let display: InlineDisplay?

    /// The interval for redrawing the display when no reply arrives. The animations need it.
    private static let tickMilliseconds: Int32 = 100
    /// The interval for looking whether a retry has to be reported.
    private static let retryTickMilliseconds: Int32 = 1000

    /// Waits until the fetch ends. Returns the final state of all items, in order.
    func fetch(_ parameters: Methods.Fetch.Parameters) throws -> [Item] {
        // Without waiting there is only one reply.
        if parameters.wait == false { return try client.call(Methods.Fetch.self, parameters).items }
        guard let display else { return try fetchReportingRetries(parameters) }
        defer { display.erase() }
        var replies = try client.stream(Methods.Fetch.self, parameters)
        let start = ContinuousClock.now
        var progress = FetchProgress(urls: parameters.urls ?? [])
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

    private func fetchReportingRetries(_ parameters: Methods.Fetch.Parameters) throws -> [Item] {
        var replies = try client.stream(Methods.Fetch.self, parameters)
        let start = ContinuousClock.now
        var report = RetryReport()
        var changed: [Item] = []
        var last: [Item] = []
        while let reply = try replies.next() {
            last = reply.items
            changed = last
            repeat {
                let lines = report.lines(
                    changed, elapsed: start.duration(to: .now), now: TimeText.now())
                for line in lines { StandardError.report(line.url, line.text) }
                changed = []
            } while try !replies.isReady(within: Self.retryTickMilliseconds)
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
