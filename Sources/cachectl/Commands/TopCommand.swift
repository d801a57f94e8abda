import ArgumentParser
import CacheWire

/// `cachectl top`
struct TopCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Show downloads and cached images, updated live.",
        discussion: """
            The last line of the screen names keys, ? shows all of them and what the signs mean. \
            The daemon reports changes only for the visible rows. If the daemon ends, top waits for \
            the next one. To select text with the mouse, hold Shift.

            COLORTERM, NO_COLOR, TERM and the locale determine the colors and characters.

            Keys:
            \(TopKeys.text)
            """)

    @OptionGroup var socket: SocketOption

    @Flag(help: "Use only ASCII characters.")
    var ascii = false

    func run() throws {
        let terminal = TerminalCapabilities(
            environment: TerminalCapabilities.environment(), isPlain: ascii)
        guard let screen = FullScreen(terminal: terminal) else {
            throw CommandFailure(
                status: .usage,
                message: "top needs a terminal as standard input and output: "
                    + "use `cachectl list` or `cachectl stats` instead")
        }
        try TopSession(screen: screen, terminal: terminal, connect: socket.connect).run()
    }
}
