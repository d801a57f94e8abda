import ArgumentParser
import CacheWire

/// `cachectl show`
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an image on the terminal; download it if it is missing.",
        discussion: """
            Terminals that know the graphics of kitty, the inline images of iTerm2 or sixels are \
            asked and draw the picture; elsewhere chafa(1) does, where it is installed. If nothing \
            can, or standard output is no terminal, all that is known about the image is printed, \
            as "info" does.

            Exit status: 0 shown; 1 the image could not be had.

            Example: cachectl show https://example.com/logo.png
            """)

    @OptionGroup var socket: SocketOption

    @Argument(help: ArgumentHelp("The URL; - reads it from standard input.", valueName: "url"))
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
