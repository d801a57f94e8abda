import ArgumentParser
import CacheWire

/// `cachectl watch`
struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Print how things stand, then a line for every change.",
        discussion: """
            Watches the URLs, or everything where none is given; never starts a download. Prints \
            the lines of "status", and "removed URL" for what is neither cached nor in flight any \
            more, or "removed KEY" where the URL is not known. With --json, items, and \
            {"key":KEY,"url":URL,"removed":true}. Every line is written at once.

            Goes on until it is interrupted, or with --until cached until every URL is cached or \
            has failed; then the exit status is that of "status". Where standard input names no \
            URL, or all that is named is none, it ends at once.

            Example: cachectl watch --until cached https://example.com/a.png
            """)

    /// What `--until` takes.
    enum End: String, ExpressibleByArgument, CaseIterable {
        case cached
    }

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(help: "End when every URL is cached or has failed.")
    var until: End?

    @Argument(
        help: ArgumentHelp(
            "The URLs; - reads them from standard input, one a line. None: everything.",
            valueName: "url"))
    var urls: [String] = []

    func validate() throws {
        guard until == nil || !urls.isEmpty else {
            throw ValidationError("--until needs URLs.")
        }
    }

    func run() throws {
        let watched = urls.isEmpty ? nil : try URLArguments.read(urls)
        let session = WatchSession(client: try socket.connect(), urls: watched)
        var report = WatchReport(watched, json: format.json)
        try report.begin()
        // To the daemon no URLs are all.
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
