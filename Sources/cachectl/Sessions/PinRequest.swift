import CacheWire

/// The call and the output of `pin` and `unpin`: successes on standard output, failures on standard
/// error.
struct PinRequest {
    /// Whether the images are to be pinned or unpinned.
    let isPinned: Bool
    let json: Bool

    private var output = Output()
    private var tally = ExitTally()

    init(isPinned: Bool, json: Bool) {
        self.isPinned = isPinned
        self.json = json
    }

    /// Makes the calls and prints the result. Always throws, at least the exit status.
    consuming func run(client: Client, urls: URLList) throws {
        try urls.callInBatches { batch in
            try client.call(Methods.Pin.self, .init(urls: batch, pinned: isPinned)).items
        } handle: { items in
            for item in items {
                try add(item)
            }
        }
        try output.flush()
        throw tally.status.error
    }

    /// Only the resulting pin counts. A missing image cannot be pinned. An image in flight can: the
    /// pin takes effect when the image is cached.
    private mutating func add(_ item: Item) throws {
        let isDone = item.pinned ?? false == isPinned && !item.hasInvalidURL
        tally.count(item, isDone: isDone)
        guard !json else { return try output.json(item) }
        guard !isDone else {
            let word = isPinned ? "pinned" : "unpinned"
            return try output.line("\(word) \(item.stateWord) \(item.url.printable)")
        }
        try output.flush()
        StandardError.report(item.url, item.failure?.message ?? reason(item))
    }

    /// The reason for a failure that the daemon does not explain.
    private func reason(_ item: Item) -> String {
        guard isPinned else { return "it is still pinned" }
        return item.state == .missing ? "it is not cached: fetch it first" : "it was not pinned"
    }
}
