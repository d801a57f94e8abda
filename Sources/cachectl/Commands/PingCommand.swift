import ArgumentParser
import CacheWire

/// `cachectl ping`
struct PingCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ping",
        abstract: "Ask whether the daemon answers.",
        discussion: """
            Prints nothing. For the probes of containers and service managers: it takes some \
            milliseconds, touches no image, and does not ask a store.

            Exit status: 0 the daemon answers; 69 it does not.

            Example: cachectl ping
            """)

    @OptionGroup var socket: SocketOption

    func run() throws {
        _ = try socket.connect().call(Methods.Status.self, .init(urls: []))
    }
}
