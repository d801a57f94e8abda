import ArgumentParser
import CacheWire

/// `cachectl show`
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an image on the terminal. Downloads it if it is missing.",
        discussion: """
            Works on terminals with kitty graphics, iTerm2 inline images or sixels, and on any \
            terminal if chafa(1) is installed. Otherwise, or if standard output is not a terminal, \
            it prints the same facts as "info".

            Exit status: 0 the image was shown; 1 the download failed.

            Example: cachectl show https://example.com/logo.png
            """)

    @OptionGroup var socket: SocketOption

    @Argument(
        help: ArgumentHelp("The URL; - reads it from standard input.", valueName: "url"),
        completion: .cachedURLs)
    var url: String

    func run() throws {
        let client = try socket.connect()
        let session = FetchSession(client: client, display: .onTerminal())
        var failures = FetchReport(json: false, mayBeInFlight: false)
        try URLArguments.read([url]).callInBatches {
            try session.fetch(.init(urls: $0, priority: .visible))
        } handle: { items in
            for item in items {
                if item.state == .cached {
                    try ShowSession(client: client).show(item)
                } else {
                    try failures.add([item])
                }
            }
        }
        try failures.finish()
    }
}
