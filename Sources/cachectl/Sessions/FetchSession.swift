import CacheWire

/// Fetches URLs over one connection, with or without a progress display.
struct FetchSession {
    let client: Client
    let display: InlineDisplay?
    /// Names failures as they happen.
    var failures = FailureReport()

    /// The interval for redrawing the display when no reply arrives. The animations need it.
    private static let tickMilliseconds: Int32 = 100
    /// The interval for looking whether a retry has to be reported.
    private static let retryTickMilliseconds: Int32 = 1000

    /// Waits until the fetch ends. Returns the final state of all items, in order.
    func fetch(_ parameters: Methods.Fetch.Parameters) throws -> [Item] {
        // Without waiting there is only one reply.
        if parameters.wait == false { return try client.call(Methods.Fetch.self, parameters).items }
        defer { display?.erase() }
        var replies = try client.stream(Methods.Fetch.self, parameters)
        let start = ContinuousClock.now
        var progress = FetchProgress(urls: parameters.urls ?? (parameters.wants ?? []).map(\.url))
        var retries = RetryReport()
        let tick = display == nil ? Self.retryTickMilliseconds : Self.tickMilliseconds
        return try last(of: &replies, each: tick) { items in
            // The lines stand above the display.
            failures.name(items ?? [], isLast: false) { display?.erase() }
            let elapsed = start.duration(to: .now)
            guard let display else {
                let lines = retries.lines(items ?? [], elapsed: elapsed, now: TimeText.now())
                return lines.forEach { StandardError.report($0.url, $0.text) }
            }
            if let items { progress.replied(items, now: elapsed) }
            draw(&progress, at: .now(since: start), on: display)
        }
    }

    /// The items of the last reply. Calls `body` with the items of each reply, and without any at an interval.
    /// Throws ``Interruption`` if an interrupt is noted.
    private func last(
        of replies: inout ReplyStream<Methods.Fetch>, each milliseconds: Int32,
        _ body: ([Item]?) -> Void
    ) throws -> [Item] {
        var last: [Item] = []
        while true {
            while try !replies.isReady(within: milliseconds) {
                try Interruption.check()
                body(nil)
            }
            guard let reply = try replies.next() else { return last }
            try Interruption.check()
            last = reply.items
            body(last)
        }
    }

    private func draw(
        _ progress: inout FetchProgress, at time: LocalTime, on display: InlineDisplay
    ) {
        progress.advanced(to: time.elapsed)
        let view = FetchView(terminal: display.terminal, size: display.size, time: time)
        display.draw(view.lines(progress))
    }
}

extension FetchSession {
    /// Fetches images that a person waits for, and hands each cached one to `use`, in order.
    /// Always throws, at least the exit status.
    func each(of urls: URLList, _ use: (Item) throws -> Void) throws {
        var report = FetchReport(json: false, failures: failures)
        try urls.callInBatches {
            try fetch(.init(urls: $0, priority: .visible))
        } handle: { items in
            for item in items {
                if item.state == .cached { try use(item) } else { try report.add([item]) }
            }
        }
        try report.finish()
    }
}
