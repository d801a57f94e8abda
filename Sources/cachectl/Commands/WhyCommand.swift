import ArgumentParser
import CacheWire

/// `cachectl why`
struct WhyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Say why images are here, or why not.",
        discussion: """
            Prints one line for each URL: since when the image is here, how far its download is, \
            or what became of it: it failed, and when its origin is asked again; it was evicted \
            or removed, by whom and why; or nobody asked for it.

            Exit status: 0 all images are cached; 1 at least one is missing; 2 none is missing, \
            but at least one is in flight.

            Example: cachectl why https://example.com/a.png
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag
    @OptionGroup var arguments: URLArguments

    func run() throws {
        let client = try socket.connect()
        let urls = try arguments.read()
        var output = Output()
        var tally = ExitTally()
        var last: [String: HistoryEvent] = [:]
        try urls.callInBatches { batch in
            let events = try client.call(
                Methods.History.self, .init(urls: batch, limit: 10_000)
            ).events
            last = Dictionary(events.map { ($0.key, $0) }) { $1 }
            return try client.call(
                Methods.Status.self, .init(urls: batch, details: true)
            ).items
        } handle: { items in
            for item in items {
                let answer = WhyAnswer(item: item, event: last[item.key])
                tally.count(item)
                if format.json {
                    try output.json(answer)
                } else {
                    try output.line("\(item.url): \(answer.text)")
                }
            }
        }
        try output.flush()
        throw tally.status.error
    }
}
