import ArgumentParser
import CacheWire

/// `cachectl stats`
struct StatsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Print how the cache is doing.",
        discussion: """
            --json prints all figures as one flat object, whose names contain the units. --prometheus \
            prints them in the text format of Prometheus, for the textfile collector of its node \
            exporter.
            Example: cachectl stats --json | jq .bytesUsed
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Flag(help: "Print metrics for Prometheus.")
    var prometheus = false

    func validate() throws {
        guard !(prometheus && format.json) else {
            throw ValidationError("Give either --json or --prometheus.")
        }
    }

    func run() throws {
        let client = try socket.connect()
        let reply = try client.call(Methods.Stats.self, .init())
        var output = Output()
        if format.json {
            try output.json(reply.stats)
        } else if prometheus {
            try PrometheusText(reply).lines.forEach { try output.line($0) }
        } else {
            let report = StatsReport(
                reply.stats, users: reply.users ?? [], now: TimeText.now())
            if let columns = StandardStream.output.columns {
                try report.styledLines(.ofEnvironment, columns: columns)
                    .forEach { try output.line($0) }
            } else {
                try report.lines(columns: nil).forEach { try output.line($0) }
            }
        }
        try output.flush()
    }
}
