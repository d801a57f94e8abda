import ArgumentParser
import CacheWire

/// `cachectl list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cached images.",
        discussion: "Example: cachectl list --order size --limit 20")

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(
        help: ArgumentHelp(
            "Most recently used, largest or oldest first.", valueName: "order"))
    var order: ListOrder = .recency

    @Flag(help: "Reverse the order.")
    var reverse = false

    @Option(help: ArgumentHelp("The most images to list (default: all).", valueName: "count"))
    var limit: Int?

    func validate() throws {
        guard limit ?? 0 >= 0 else { throw ValidationError("--limit must be 0 or more.") }
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
