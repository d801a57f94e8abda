import ArgumentParser
import CacheWire

/// `cachectl verify`
struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Read every cached image and check it for damage.",
        discussion: """
            Prints one line for each damaged image: "damaged URL: REASON" if it was not repaired, \
            "refetched URL" or "removed NAME" if it was. The last line is a summary. --json prints \
            an item for each damaged image and then \
            {"checked":N,"damaged":N,"left":N,"total":N}. The file of a damaged image is removed, so \
            the image is missing, and "fetch" downloads it again. A pinned image is downloaded again \
            at once.

            The daemon reads with the lowest priority, and stops if this command is interrupted.

            Exit status: 0 no image is damaged, or all were repaired; 1 an image was not repaired.

            Example: cachectl verify --repair
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Flag(help: "Download damaged images again.")
    var repair = false

    func run() throws {
        let session = VerifySession(client: try socket.connectOrStart(), display: .onTerminal())
        let reply = try session.verify(.init(repair: repair ? true : nil))
        try VerifyReport(json: format.json).print(reply)
    }
}
