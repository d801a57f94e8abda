import ArgumentParser
import CacheWire

/// `cachectl fetch`
struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Download what is missing and print the path of each image.",
        discussion: """
            The paths come in the order of the URLs, failures on standard error. On a terminal \
            the downloads under way are drawn there.

            Exit status: 0 all are cached; 1 any failed.

            Example: cachectl fetch https://example.com/a.png | xargs identify
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(help: ArgumentHelp("How urgent it is: \(Priority.names).", valueName: "priority"))
    var priority: Priority?

    @Flag(help: "Ask the origin even where the cached image is fresh.")
    var refresh = false

    @Option(
        help: ArgumentHelp(
            "What the bytes must hash to; others are a failure, and stay cached for who did not ask.",
            valueName: "hex"))
    var sha256: String?

    @Flag(name: .customLong("no-wait"), help: "Start the downloads and do not wait for them.")
    var noWait = false

    @OptionGroup var arguments: URLArguments

    func validate() throws {
        guard let sha256 else { return }
        guard sha256.utf8.count == 64, sha256.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw ValidationError("--sha256 takes 64 hexadecimal digits.")
        }
        guard !noWait else {
            throw ValidationError(
                "--sha256 is compared at the end; --no-wait does not wait for it.")
        }
    }

    func run() throws {
        let session = FetchSession(
            client: try socket.connect(), display: noWait ? nil : .onTerminal())
        var report = FetchReport(json: format.json, mayBeInFlight: noWait)
        try arguments.read().callInBatches {
            try session.fetch(parameters($0))
        } handle: {
            try report.add($0)
        }
        try report.finish()
    }

    private func parameters(_ urls: [String]) -> Methods.Fetch.Parameters {
        Methods.Fetch.Parameters(
            urls: urls, priority: priority, refresh: refresh ? true : nil,
            wait: noWait ? false : nil, sha256: sha256)
    }
}
