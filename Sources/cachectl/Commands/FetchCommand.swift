import ArgumentParser
import CacheWire

/// `cachectl fetch`
struct FetchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fetch",
        abstract: "Download missing images and print the path of each image.",
        discussion: """
            The paths have the order of the URLs. Standard error names each failed image as it fails, \
            and shows the progress if it is a terminal. Ctrl-C says what the cache keeps.

            Exit status: 0 all images are cached; 1 at least one failed.

            Example: cachectl fetch https://example.com/a.png | xargs identify
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Option(help: ArgumentHelp("The urgency (default: normal).", valueName: "priority"))
    var priority: Priority?

    @Flag(help: "Ask the origin even if the cached image is fresh.")
    var refresh = false

    @Option(
        help: ArgumentHelp(
            "Fail if an image has another SHA-256. The image stays cached.",
            valueName: "hex"))
    var sha256: String?

    @Option(
        help: ArgumentHelp(
            "Fail after this many failed attempts (default: those of the daemon).",
            valueName: "number"))
    var attempts: Int?

    @Option(
        help: ArgumentHelp(
            """
            Fail if an image has not come after this time, such as 500ms, 5s or 2min. The daemon's own \
            attempts go on for others.
            """, valueName: "time"))
    var timeout: TimeSpan?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp(
            "Fetch the images of this account: those of the URLs with #as=.", valueName: "account"))
    var account: String?

    @Option(
        help: ArgumentHelp(
            "A file with lines like \"Authorization: Bearer TOKEN\", which are sent to the origin of each URL.",
            valueName: "file"))
    var headerFile: String?

    @Option(
        name: .customLong("or"),
        help: ArgumentHelp(
            "Another URL of the image, asked if the one before it fails for good; can be repeated.",
            valueName: "url"))
    var others: [String] = []

    @Flag(help: "Pin the images, from the first byte on.")
    var pin = false

    @Flag(name: .customLong("no-wait"), help: "Start the downloads without waiting for them.")
    var noWait = false

    @OptionGroup var arguments: URLArguments

    func validate() throws {
        guard attempts ?? 1 > 0 else { throw ValidationError("--attempts takes 1 or more.") }
        guard (1...1_000_000_000_000).contains(timeout?.milliseconds ?? 1) else {
            throw ValidationError("--timeout takes 1ms to 1000000000s.")
        }
        guard others.isEmpty || arguments.urls.count == 1 && arguments.urls != ["-"] else {
            throw ValidationError("--or is for one image: give one URL before it.")
        }
        guard headerFile == nil || account != nil else {
            throw ValidationError("--header-file needs --as, which names the account.")
        }
        guard attempts == nil && timeout == nil || !noWait else {
            throw ValidationError(
                "--attempts and --timeout say how long to wait; do not combine them with --no-wait."
            )
        }
        guard let sha256 else { return }
        guard sha256.utf8.count == 64, sha256.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
            throw ValidationError("--sha256 takes 64 hexadecimal digits.")
        }
        guard !noWait else {
            throw ValidationError(
                "--sha256 is checked when the download ends; do not combine it with --no-wait.")
        }
    }

    func run() throws {
        var urls = try arguments.read()
        if let account { try urls.name(account) }
        let headers = try headerFile.map { try HeaderFields.read($0) }
        do {
            try fetch(urls, headers)
        } catch is Interruption {
            // The session has ended, and with it the request for the downloads.
            let kept = try KeptDownloads.ask(try socket.connect(), about: urls)
            StandardError.report(kept.text)
            throw ExitStatus.interrupted.error
        }
    }

    private func fetch(_ urls: URLList, _ headers: [String: String]?) throws {
        let failures = FailureReport(mayBeInFlight: noWait, isSilent: format.json)
        let session = FetchSession(
            client: try socket.connectOrStart(), display: noWait ? nil : .onTerminal(),
            failures: failures)
        if !noWait { Signals.noteInterrupts() }
        var report = FetchReport(json: format.json, failures: failures)
        try urls.callInBatches {
            try session.fetch(parameters($0, headers))
        } handle: {
            try report.add($0)
        }
        try report.finish()
    }

    private func parameters(
        _ urls: [String], _ headers: [String: String]?
    ) -> Methods.Fetch.Parameters {
        let isPlain =
            attempts == nil && timeout == nil && headers == nil && others.isEmpty && !pin
        let wants = urls.map {
            Want(
                url: $0, also: others.isEmpty ? nil : others, pinned: pin ? true : nil,
                attempts: attempts, timeout: timeout.map { Int($0.milliseconds) },
                headers: headers)
        }
        return Methods.Fetch.Parameters(
            urls: isPlain ? urls : nil, wants: isPlain ? nil : wants, priority: priority,
            refresh: refresh ? true : nil,
            wait: noWait ? false : nil, sha256: sha256)
    }
}
