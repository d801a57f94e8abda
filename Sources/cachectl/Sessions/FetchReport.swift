import CacheWire

/// The output of `fetch`: paths on standard output, failures on standard error.
struct FetchReport {
    let json: Bool
    let failures: FailureReport

    private var output = Output()
    private var tally = ExitTally()

    init(json: Bool, failures: FailureReport) {
        (self.json, self.failures) = (json, failures)
    }

    /// Prints the items of one call.
    mutating func add(_ items: [Item]) throws {
        for item in items {
            try add(item)
        }
        try output.flush()
    }

    private mutating func add(_ item: Item) throws {
        tally.count(item, isDone: item.isFetched(mayBeInFlight: failures.mayBeInFlight))
        guard !json else { return try output.json(item) }
        if item.state == .cached, let path = item.path {
            try output.line(data: path)
        }
        try failures.name([item], isLast: true) { try output.flush() }
    }

    /// Ends the command with the exit status for all added items.
    func finish() throws {
        throw tally.status.error
    }
}
