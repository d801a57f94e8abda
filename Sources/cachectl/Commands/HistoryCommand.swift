import ArgumentParser
import CacheWire

/// `cachectl history`
struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print what happened to images lately, the newest last.",
        discussion: """
            The daemon remembers 10,000 events over restarts: which images were fetched, confirmed \
            by their origin, derived, evicted, removed or found damaged, and which downloads \
            failed. On a daemon of another user, name the URLs.

            Example: cachectl history --kind failed --kind evicted --since 1h
            Example: cachectl history https://example.com/a.png
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Argument(
        help: ArgumentHelp(
            "Only events of these URLs; - reads them from standard input, one a line.",
            valueName: "url"),
        completion: .cachedURLs)
    var urls: [String] = []

    @Option(
        name: .customLong("kind"),
        help: ArgumentHelp("Only events of this kind; can be repeated.", valueName: "kind"))
    var kinds: [HistoryKind] = []

    @Option(
        help: ArgumentHelp("Only events of the last time, such as 1h.", valueName: "time"))
    var since: TimeSpan?

    @Option(
        help: ArgumentHelp("The most events to print, of more the newest.", valueName: "count"))
    var limit = 1000

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit must be 1 or more.") }
    }

    func run() throws {
        let now = TimeText.now()
        let named = try urls.isEmpty ? nil : URLArguments.read(urls).urls
        let reply = try socket.connect().call(
            Methods.History.self,
            .init(
                urls: named, kinds: kinds.isEmpty ? nil : kinds,
                since: since.map { now - Int($0.duration.components.seconds) }, limit: limit))
        var output = Output()
        if format.json {
            try reply.events.forEach { try output.json($0) }
        } else if !reply.events.isEmpty {
            var table = Table(
                [.right, .left, .right, .left, .left], columns: StandardStream.output.columns)
            let rows = reply.events.map { event in
                [
                    "\(TimeText.describe(from: event.at, to: now)) ago", event.kind.rawValue,
                    event.bytes.map(ByteCountText.describe) ?? "-", event.cause ?? "-",
                    event.url.isEmpty ? event.key.printable : event.url.printable,
                ]
            }
            try table.lines([["WHEN", "EVENT", "SIZE", "WHY", "URL"]] + rows)
                .forEach { try output.line($0) }
        }
        try output.flush()
    }
}
