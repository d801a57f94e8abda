import CacheWire

/// What `fetch` prints: paths on standard output, failures on standard error.
struct FetchReport {
    let json: Bool
    /// Nobody waited for the downloads, so that one in flight is no failure.
    let mayBeInFlight: Bool

    private var output = Output()
    private var failed = false
    private var invalid = false

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
        // Why the attempt before failed is no failure of the one that nobody waits for.
        let isBegun = mayBeInFlight && item.phase != nil
        let isDone = isBegun || (item.state == .cached && item.failure == nil)
        failed = failed || !isDone
        invalid = invalid || item.hasInvalidURL
        guard !json else { return try output.json(item) }
        if item.state == .cached, let path = item.path {
            try output.line(path)
        }
        if !isDone {
            try output.flush()
            StandardError.report(item.url, item.failure?.message ?? "it was not fetched")
        }
    }

    /// Ends the command with the status for all that was added.
    func finish() throws {
        throw (invalid ? ExitStatus.invalidURL : failed ? .incomplete : .success).error
    }
}
