import ArgumentParser
import CacheWire

/// `cachectl show`
struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show an image on the terminal. Downloads it if it is missing.",
        discussion: """
            Works on terminals with kitty graphics, iTerm2 inline images or sixels, and on any \
            terminal if chafa(1) is installed. Other terminals get the same facts as from "info". If \
            standard output is not a terminal, it gets the bytes of the image, as from "cat".

            Exit status: 0 the image was shown; 1 the download failed.

            Example: cachectl show https://example.com/logo.png
            Example: cachectl show https://example.com/logo.png > logo.png
            """)

    @OptionGroup var socket: SocketOption

    @Argument(
        help: ArgumentHelp("The URL; - reads it from standard input.", valueName: "url"),
        completion: .cachedURLs)
    var url: String

    func run() throws {
        let client = try socket.connectOrStart()
        let session = FetchSession(client: client, display: .onTerminal())
        try session.each(of: try URLArguments.read([url])) {
            try ShowSession(client: client).show($0)
        }
    }
}
