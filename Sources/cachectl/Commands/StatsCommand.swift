import ArgumentParser
import CacheWire

/// `cachectl stats`
struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Print the daemon's counters and gauges.",
        discussion: """
            The names contain the units. --json prints one flat object.

            Example: cachectl stats --json | jq .bytesUsed
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    func run() throws {
        let client = try socket.connect()
        let stats = try client.call(Methods.Stats.self, .init()).stats
        var output = Output()
        if format.json {
            try output.json(stats)
        } else {
            var table = Table([.left, .left])
            let rows = stats.sorted { $0.key < $1.key }
                .map { [$0.key.printable, $0.value.description.printable] }
            try table.lines(rows).forEach { try output.line($0) }
        }
        try output.flush()
    }
}
