import ArgumentParser

/// `cachectl pin`
struct PinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Keep images from eviction.",
        discussion: """
            Prints a line for each URL: "pinned cached URL", or "pinned in-flight URL" for an \
            image that will be pinned when it is here. What is not cached cannot be pinned.

            A pin is stored with the file: it outlives a new download of the image and a restart \
            of the daemon. It ends with "unpin", or with the image by "remove URL".

            Exit status: 0 all are pinned; 1 any is not.

            Example: cachectl pin https://example.com/logo.png
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag
    @OptionGroup var arguments: URLArguments

    func run() throws {
        try PinRequest(isPinned: true, json: format.json)
            .run(client: try socket.connect(), urls: try arguments.read())
    }
}
