import CacheWire

/// What `status` asks and prints.
struct StatusRequest: Equatable {
    /// The value of `--socket`.
    var socket: String?
    var isJSON = false
    var urls = URLList()

    /// Asks and prints; always throws, at least the exit status.
    func run() throws {
        let client = try Client(socket: socket)
        var output = Output()
        var seen = ItemTally()
        try urls.callInBatches { batch in
            let parameters = Methods.Status.Parameters(urls: batch, details: isJSON ? true : nil)
            return try client.call(Methods.Status.self, parameters).items
        } handle: { items in
            for item in items {
                try print(item, to: &output)
                seen.count(item)
            }
        }
        try output.flush()
        throw seen.status.error
    }

    private func print(_ item: Item, to output: inout Output) throws {
        guard !isJSON else { return try output.json(item) }
        try output.line(item.statusLine)
        if let failure = item.failure {
            try output.flush()
            StandardError.report(item.url, failure.message)
        }
    }
}

extension StatusRequest {
    /// The question of the plainest of all calls, `cachectl status URL…`, or `nil` for anything
    /// with options, which ArgumentParser must see.
    ///
    /// Scripts ask this once an image, and ArgumentParser takes 1.7 ms of a process of 4 ms.
    init?(plain arguments: some Collection<String>) {
        let urls = arguments.dropFirst()
        guard arguments.first == "status", !urls.isEmpty,
            !urls.contains(where: { $0.hasPrefix("-") })
        else { return nil }
        self.init(urls: URLList(Array(urls)))
    }
}
