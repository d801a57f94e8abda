import ArgumentParser
import CacheWire

/// `cachectl cat`
struct CatCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cat",
        abstract: "Write the bytes of images to standard output. Downloads what is missing.",
        discussion: """
            Exit status: 0 all images were written; 1 at least one download failed; 64 standard \
            output is a terminal, on which "show" draws images.
            Example: cachectl cat https://example.com/a.png | identify -
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var arguments: URLArguments

    func run() throws {
        guard !StandardStream.output.isTerminal else {
            throw CommandFailure(
                status: .usage,
                message: "the bytes of an image do not belong on a terminal: redirect them, or use "
                    + "`cachectl show`")
        }
        let client = try socket.connectOrStart()
        let session = FetchSession(client: client, display: .onTerminal())
        try session.each(of: try arguments.read()) { try ShownFile(of: $0, client).print() }
    }
}
