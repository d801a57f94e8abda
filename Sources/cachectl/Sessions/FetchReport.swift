import CacheWire

/// The output of `fetch`: paths on standard output, failures on standard error.
struct FetchReport {
    let json: Bool
    /// Whether an unfinished download counts as success. `true` if the command does not wait for
    /// the downloads.
    let mayBeInFlight: Bool

    private var output = Output()
    private var tally = ExitTally()

    init(json: Bool, mayBeInFlight: Bool) {
        self.json = json
        self.mayBeInFlight = mayBeInFlight
    }

    /// Prints the items of one call.
    mutating func add(_ items: [Item]) throws {
        for item in items {
            try add(item)
        }
        try output.flush()
    }

    private mutating func add(_ item: Item) throws {
        // The failure of an earlier attempt does not matter if a new download has started and the
        // command does not wait for it.
        let isBegun = mayBeInFlight && item.phase != nil
        let isDone = isBegun || (item.state == .cached && item.failure == nil)
        tally.count(item, isDone: isDone)
        guard !json else { return try output.json(item) }
        if item.state == .cached, let path = item.path {
            try output.line(data: path)
        }
        if !isDone {
            try output.flush()
            StandardError.report(item.url, item.failure?.message ?? "it was not downloaded")
        }
    }

    /// Ends the command with the exit status for all added items.
    func finish() throws {
        throw tally.status.error
    }
}
