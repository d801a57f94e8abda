import ArgumentParser
import CacheWire

/// `cachectl info`
struct InfoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "info",
        abstract: "Print all known facts about a URL, one a line.",
        discussion: "Example: cachectl info https://example.com/a.png")

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Argument(
        help: ArgumentHelp(
            "The URL; - reads URLs from standard input, one a line.", valueName: "url"))
    var url: String

    func run() throws {
        let client = try socket.connect()
        let urls = try URLArguments.read([url])
        var output = Output()
        var tally = ExitTally()
        try urls.callInBatches { batch in
            try client.call(Methods.Status.self, .init(urls: batch, details: true)).items
        } handle: { items in
            for item in items {
                tally.count(item, isDone: true)
                try print(item, to: &output)
            }
        }
        try output.flush()
        throw tally.status.error
    }

    private func print(_ item: Item, to output: inout Output) throws {
        guard !format.json else { return try output.json(item) }
        try item.fieldLines.forEach { try output.line($0) }
    }
}
