import CacheWire

/// The calls and the output of `status`.
struct StatusRequest: Equatable {
    /// The value of `--socket`.
    var socket: String?
    var isJSON = false
    var urls = URLList()

    /// Makes the calls and prints the result. Always throws, at least the exit status.
    func run() throws {
        let client = try Client(socket: socket)
        var output = Output()
        var tally = ExitTally()
        try urls.callInBatches { batch in
            let parameters = Methods.Status.Parameters(urls: batch, details: isJSON ? true : nil)
            return try client.call(Methods.Status.self, parameters).items
        } handle: { items in
            for item in items {
                try output.status(item, json: isJSON)
                tally.count(item)
            }
        }
        try output.flush()
        throw tally.status.error
    }
}

extension StatusRequest {
    /// Parses `cachectl status URL…` without ArgumentParser. Returns `nil` if there is any option,
    /// which ArgumentParser must parse.
    ///
    /// Scripts make this call once for each image, and ArgumentParser takes 1.7 ms of the 4 ms that
    /// the process runs.
    init?(plain arguments: some Collection<String>) {
        let urls = arguments.dropFirst()
        guard arguments.first == "status", !urls.isEmpty,
            !urls.contains(where: { $0.hasPrefix("-") })
        else { return nil }
        self.init(urls: URLList(Array(urls)))
    }
}
