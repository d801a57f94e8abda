import CacheWire

/// What `pin` and `unpin` ask and print: what was done on standard output, what was not on standard
/// error.
struct PinRequest {
    /// What is asked for.
    let isPinned: Bool
    let json: Bool

    private var output = Output()
    private var failed = false
    private var invalid = false

    init(isPinned: Bool, json: Bool) {
        self.isPinned = isPinned
        self.json = json
    }

    /// Asks and prints; always throws, at least the exit status.
    consuming func run(client: Client, urls: URLList) throws {
        try urls.callInBatches { batch in
            try client.call(Methods.Pin.self, .init(urls: batch, pinned: isPinned)).items
        } handle: { items in
            for item in items {
                try add(item)
            }
        }
        try output.flush()
        throw (invalid ? ExitStatus.invalidURL : failed ? .incomplete : .success).error
    }

    /// What counts is whether the item is pinned now: one that is missing is not, and one in flight
    /// may be, for the time when it is here.
    private mutating func add(_ item: Item) throws {
        let isDone = item.pinned ?? false == isPinned && !item.hasInvalidURL
        failed = failed || !isDone
        invalid = invalid || item.hasInvalidURL
        guard !json else { return try output.json(item) }
        guard !isDone else {
            let word = isPinned ? "pinned" : "unpinned"
            return try output.line("\(word) \(item.stateWord) \(item.url.printable)")
        }
        try output.flush()
        StandardError.report(item.url, item.failure?.message ?? reason(item))
    }

    /// Why it was not done, where the daemon does not say.
    private func reason(_ item: Item) -> String {
        guard isPinned else { return "it is still pinned" }
        return item.state == .missing ? "it is not cached: fetch it first" : "it was not pinned"
    }
}
