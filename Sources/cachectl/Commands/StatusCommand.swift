import ArgumentParser

/// `cachectl status`
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the state of URLs. Never starts a download.",
        discussion: """
            Prints one line for each URL: "cached SIZE TYPE PATH", "in-flight PERCENT \
            RECEIVED/TOTAL URL" or "missing URL". Sizes are bytes, and - means unknown.

            Exit status: 0 all images are cached; 1 at least one is missing; 2 none is missing, \
            but at least one is in flight.

            Example: cachectl status https://example.com/a.png
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag
    @OptionGroup var arguments: URLArguments

    func run() throws {
        try StatusRequest(socket: socket.socket, isJSON: format.json, urls: arguments.read()).run()
    }
}
