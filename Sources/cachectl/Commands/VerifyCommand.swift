import ArgumentParser
import CacheWire

/// `cachectl verify`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read every image and compare it with what was fetched.",
        discussion: """
            Prints a line for each damaged image: "damaged URL: WHY" for one that is left, \
            "refetched URL" and "removed NAME" for one that was repaired; and how many there are: \
            as JSON its item for each, and then {"checked":N,"damaged":N,"left":N,"total":N}. \
            A damaged image is missing from then on, and "fetch" downloads it anew.

            It runs with the lowest priority, and ends with this command.

            Exit status: 0 nothing is damaged, or all was repaired; 1 damage is left.

            Example: cachectl verify --repair
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Flag(help: "Download damaged images anew; remove those whose URL is not known.")
    var repair = false

    func run() throws {
        let session = VerifySession(client: try socket.connect(), display: .onTerminal())
        let reply = try session.verify(.init(repair: repair ? true : nil))
        try VerifyReport(json: format.json).print(reply)
    }
}
