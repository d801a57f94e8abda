import ArgumentParser

/// `cachectl unpin`
struct UnpinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Permit the eviction of pinned images again.",
        discussion: """
            Prints one line for each URL: "unpinned cached URL", "unpinned in-flight URL" or \
            "unpinned missing URL". The command itself evicts nothing.

            Exit status: 0 no image is pinned; 1 at least one still is.

            Example: cachectl unpin https://example.com/logo.png
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag
    @OptionGroup var arguments: URLArguments

    func run() throws {
        try PinRequest(isPinned: false, json: format.json)
            .run(client: try socket.connectOrStart(), urls: try arguments.read())
    }
}
