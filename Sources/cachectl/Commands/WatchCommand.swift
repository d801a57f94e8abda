import ArgumentParser
import CacheWire

/// `cachectl watch`
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print the current state, then a line for every change.",
        discussion: """
            Watches the given URLs, or all images if no URL is given. Never starts a download. \
            Prints the same lines as "status", and "removed URL" for an image that is no longer \
            cached or in flight ("removed KEY" if its URL is unknown). --json prints items and \
            {"key":KEY,"url":URL,"removed":true}. Output is not buffered.

            Runs until it is interrupted. If the daemon ends, it waits for the next one and prints the \
            state anew. With --until cached it ends when every URL is cached or \
            has failed, with the exit status of "status". It ends at once if standard input \
            contains no URL, or if none of the URLs is valid.

            Example: cachectl watch --until cached https://example.com/a.png
            """)

    /// The values of `--until`.
    enum End: String, ExpressibleByArgument, CaseIterable {
        case cached
    }

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(help: "End when every URL is cached or has failed.")
    var until: End?

    @Argument(
        help: ArgumentHelp(
            "The URLs; - reads them from standard input, one a line (default: all images).",
            valueName: "url"),
        completion: .cachedURLs)
    var urls: [String] = []

    func validate() throws {
        guard until == nil || !urls.isEmpty else {
            throw ValidationError("--until needs URLs.")
        }
    }

    func run() throws {
        let watched = urls.isEmpty ? nil : try URLArguments.read(urls)
        let session = WatchSession(
            client: try socket.connect(), connect: socket.connect, urls: watched)
        var report = try WatchReport(watched, json: format.json)
        try report.begin()
        // A call without URLs would watch all images.
        if let watched, watched.urls.isEmpty, let status = report.settledStatus {
            throw status.error
        }
        try session.run { reply in
            try report.add(reply)
            if until == .cached || report.canNeverChange, let status = report.settledStatus {
                throw status.error
            }
        }
    }
}
