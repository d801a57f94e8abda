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
            Example: cachectl list --unused 30d
            Example: cachectl list --order eviction --limit 20
            Example: cachectl list --state failed
            """,
        aliases: ["ls"])

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(
        help: ArgumentHelp(
            "Most recently used, largest or oldest first, or the next to be evicted.",
            valueName: "order"))
    var order: ListOrder = .recency

    @Flag(help: "Reverse the order.")
    var reverse = false

    @Option(help: ArgumentHelp("The most images to list (default: all).", valueName: "count"))
    var limit: Int?

    @OptionGroup var filter: FilterOptions

    @Flag(help: "Only images whose bytes another one has too, side by side, with their digests.")
    var duplicates = false

    func validate() throws {
        guard !duplicates || filter.state == nil else {
            throw ValidationError("Give either --duplicates or --state.")
        }
        guard !reverse || order != .eviction else {
            throw ValidationError("The order of eviction has one direction: leave --reverse out.")
        }
        guard limit ?? 0 >= 0 else { throw ValidationError("--limit must be 0 or more.") }
    }

    func run() throws {
        guard !duplicates else { return try printDuplicates() }
        var pages = ListPages(
            client: try socket.connect(), filter: parameters(state: filter.state), limit: limit)
        var output = Output()
        var table = ItemTable(
            time: time,
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

    private var time: ItemTable.Time {
        switch (filter.state, order) {
        case (.inFlight, _): .progress
        case (.failed, _): .failure
        case (_, .age): .age
        case (_, .eviction): .rank
        default: .lastUse
        }
    }

    private func parameters(state: ListState?) -> Methods.List.Parameters {
        Methods.List.Parameters(
            order: order, reverse: reverse ? true : nil, prefix: filter.prefix,
            host: filter.host, account: filter.account, mediaType: filter.type, state: state,
            unusedFor: filter.unusedFor)
    }

    /// Prints the images by their contents. All have to be known before the first can be printed.
    private func printDuplicates() throws {
        var pages = ListPages(
            client: try socket.connect(), filter: parameters(state: .duplicates), limit: nil)
        var report = DuplicatesReport()
        while let page = try pages.next() { report.add(page) }
        var output = Output()
        try report.print(limit: limit, json: format.json, to: &output)
        try output.flush()
    }
}
