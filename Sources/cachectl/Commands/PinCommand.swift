import ArgumentParser

/// `cachectl pin`
struct PinCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pin",
        abstract: "Protect images from eviction.",
        discussion: """
            Prints one line for each URL: "pinned cached URL", or "pinned in-flight URL" for an \
            image that will be pinned when its download ends. A missing image cannot be pinned: \
            fetch it first.

            A pin is stored with the file. It survives a new download of the image and a restart \
            of the daemon. "unpin" ends it, and so does "remove URL".

            Exit status: 0 all images are pinned; 1 at least one is not.

            Example: cachectl pin https://example.com/logo.png
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag
    @OptionGroup var arguments: URLArguments

    func run() throws {
        try PinRequest(isPinned: true, json: format.json)
            .run(client: try socket.connectOrStart(), urls: try arguments.read())
    }
}
