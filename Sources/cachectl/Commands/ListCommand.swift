import ArgumentParser
import CacheWire

/// `cachectl list`
struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the cached images.",
        discussion: """
            On a terminal, URLs are shortened to its width, and narrow terminals get fewer columns. \
            A pipe gets everything.
            Example: cachectl list --order size --limit 20
            Example: cachectl list --host example.com --state stale
            """,
        aliases: ["ls"])

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

    @Option(
        help: ArgumentHelp("Only images of this host, without a port.", valueName: "host"))
    var host: String?

    @Option(help: ArgumentHelp("Only images whose URL starts with this.", valueName: "url"))
    var prefix: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Only images of this account.", valueName: "account"))
    var account: String?

    @Option(
        help: ArgumentHelp(
            "Only images in this state; in-flight lists the downloads instead.",
            valueName: "state"))
    var state: ListState?

    @Flag(help: "Only images whose bytes another one has too, side by side, with their digests.")
    var duplicates = false

    func validate() throws {
        guard !duplicates || state == nil else {
            throw ValidationError("Give either --duplicates or --state.")
        }
        guard limit ?? 0 >= 0 else { throw ValidationError("--limit must be 0 or more.") }
    }

    func run() throws {
        guard !duplicates else { return try printDuplicates() }
        let filter = Methods.List.Parameters(
            order: order, reverse: reverse ? true : nil, prefix: prefix, host: host,
            account: account, state: state)
        var pages = ListPages(client: try socket.connect(), filter: filter, limit: limit)
        var output = Output()
        var table = ItemTable(
            time: state == .inFlight ? .progress : order == .age ? .age : .lastUse,
            now: TimeText.now(), columns: StandardStream.output.columns)
        while let page = try pages.next() {
            if format.json {
                try page.forEach { try output.json($0) }
            } else {
                try table.lines(page).forEach { try output.line($0) }
            }
        }
        try output.flush()
    }

    /// Prints the images by their contents. All have to be known before the first can be printed.
    private func printDuplicates() throws {
        let filter = Methods.List.Parameters(
            prefix: prefix, host: host, account: account, state: .duplicates)
        var pages = ListPages(client: try socket.connect(), filter: filter, limit: nil)
        var report = DuplicatesReport()
        while let page = try pages.next() { report.add(page) }
        var output = Output()
        try report.print(limit: limit, json: format.json, to: &output)
        try output.flush()
    }
}
