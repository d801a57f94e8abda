import ArgumentParser
import CacheWire

/// `cachectl list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List what is cached.",
        discussion: "Example: cachectl list --order size --limit 20")

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(help: ArgumentHelp("Last used, largest or oldest first.", valueName: ListOrder.names))
    var order: ListOrder = .recency

    @Flag(help: "From the other end of the order.")
    var reverse = false

    @Option(help: ArgumentHelp("How many at most; default: all.", valueName: "count"))
    var limit: Int?

    func validate() throws {
        guard limit ?? 0 >= 0 else { throw ValidationError("--limit takes 0 or more.") }
    }

    func run() throws {
        var pages = ListPages(
            client: try socket.connect(), order: order, isReversed: reverse, limit: limit)
        var output = Output()
        var table = ItemTable(order: order, now: TimeText.now())
        while let page = try pages.next() {
            if format.json {
                try page.forEach { try output.json($0) }
            } else {
                try table.lines(page).forEach { try output.line($0) }
            }
        }
        try output.flush()
    }
}
