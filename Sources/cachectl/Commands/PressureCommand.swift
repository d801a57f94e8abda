import ArgumentParser
import CacheWire

/// `cachectl pressure`
struct PressureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pressure",
        abstract: "Make the daemon react as if memory were short.",
        discussion: """
            Prints what was evicted. How much that is, is a setting of the daemon.

            Exit status: 0 done; 1 something stayed that was to go.

            Example: cachectl pressure warning
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Argument(help: ArgumentHelp("How short memory is.", valueName: "level"))
    var level: PressureLevel

    func run() throws {
        let client = try socket.connect()
        let reply = try client.call(Methods.Pressure.self, .init(level: level))
        var output = Output()
        if format.json {
            try output.json(reply)
        } else {
            let what = EntryCountText.describe(reply.entries, bytes: reply.bytes)
            try output.line("evicted \(what)")
        }
        try output.flush()
        if let failure = reply.failure {
            StandardError.report(failure.message)
            throw ExitStatus.incomplete.error
        }
    }
}
