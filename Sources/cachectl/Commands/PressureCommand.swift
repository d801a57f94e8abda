import ArgumentParser
import CacheWire

/// `cachectl pressure`
struct PressureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pressure",
        abstract: "Make the daemon react as if the machine were short of memory.",
        discussion: """
            Prints how many images were evicted. The daemon's settings determine this number.

            Exit status: 0 success; 1 some images could not be evicted.

            Example: cachectl pressure warning
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Argument(help: ArgumentHelp("The severity.", valueName: "level"))
    var level: PressureLevel

    func run() throws {
        let client = try socket.connect()
        let reply = try client.call(Methods.Pressure.self, .init(level: level))
        var output = Output()
        try output.removed(reply, verb: "evicted", json: format.json)
    }
}
