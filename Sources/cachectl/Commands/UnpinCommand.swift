import ArgumentParser

/// `cachectl unpin`
struct UnpinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unpin",
        abstract: "Let images be evicted again.",
        discussion: """
            Prints a line for each URL: "unpinned cached URL", "unpinned in-flight URL" or \
            "unpinned missing URL". Nothing is evicted by it.

            Exit status: 0 none is pinned; 1 any still is.

            Example: cachectl unpin https://example.com/logo.png
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag
    @OptionGroup var arguments: URLArguments

    func run() throws {
        try PinRequest(isPinned: false, json: format.json)
            .run(client: try socket.connect(), urls: try arguments.read())
    }
}
