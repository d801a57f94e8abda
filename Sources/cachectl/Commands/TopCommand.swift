import ArgumentParser
import CacheWire

/// `cachectl top`
struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show downloads and what is cached, on the whole terminal.",
        discussion: """
            The keys are on the screen; q leaves. Only what is on the screen is watched.

            COLORTERM, NO_COLOR, TERM and the locale decide how it is drawn.
            """)

    @OptionGroup var socket: SocketOption

    @Flag(help: "Draw with ASCII characters only.")
    var ascii = false

    func run() throws {
        let terminal = TerminalCapabilities(
            environment: TerminalCapabilities.environment(), isPlain: ascii)
        guard let screen = FullScreen(terminal: terminal) else {
            throw CommandFailure(
                status: .usage,
                message: "top needs a terminal, and standard input or output is none: "
                    + "use `cachectl list` or `cachectl stats`")
        }
        try TopSession(screen: screen, terminal: terminal, connect: socket.connect).run()
    }
}
