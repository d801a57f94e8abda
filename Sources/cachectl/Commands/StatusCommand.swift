import ArgumentParser

/// `cachectl status`
struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Say what the cache holds; never start a download.",
        discussion: """
            Prints a line for each URL: "cached SIZE TYPE PATH", "in-flight PERCENT \
            RECEIVED/TOTAL URL" or "missing URL"; sizes are bytes, - stands for what is unknown.

            Exit status: 0 all cached; 1 any missing; 2 none missing, some in flight.

            Example: cachectl status https://example.com/a.png
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag
    @OptionGroup var arguments: URLArguments

    func run() throws {
        try StatusRequest(socket: socket.socket, isJSON: format.json, urls: arguments.read()).run()
    }
}
