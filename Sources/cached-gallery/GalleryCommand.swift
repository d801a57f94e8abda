import ArgumentParser
import CLinux
import CacheWire
import Glibc
import NIOCore
import NIOPosix

/// The `cached-gallery` program.
@main
struct GalleryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached-gallery",
        abstract: "Show the image cache as a live page in the browser.",
        discussion: """
            Listens on 127.0.0.1 and opens the page in the user's browser. Ends a minute after the page \
            is closed, or with Ctrl-C. The address contains a secret: anyone who has it can see and \
            manage the cache.
            """,
        version: Version.current)

    @Option(
        help: ArgumentHelp("The daemon's socket.", valueName: "path"), completion: .file())
    var socket: String?

    @Flag(help: "Print the address instead of opening a browser.")
    var noBrowser = false

    @Option(help: "The port of 127.0.0.1; 0 for a free one.")
    var port = 0

    @Option(
        help: ArgumentHelp(
            "End after so many seconds without a page.", valueName: "seconds"))
    var idleExit = 60

    static func main() {
        clinux_take_standard_descriptors()
        signal(SIGPIPE, SIG_IGN)
        do {
            if let problem = ProgramArguments.problem { throw StartFailure.usage(problem) }
            let command = try parseAsRoot()
            guard var gallery = command as? GalleryCommand else {
                var command = command
                return try command.run()
            }
            try gallery.run()
        } catch let failure as StartFailure {
            report(failure.message)
            Glibc.exit(failure.status)
        } catch let failure as ClientError {
            report(failure.message)
            Glibc.exit(64)
        } catch {
            exit(withError: error)
        }
    }

    private static func report(_ message: String) {
        Output.write("cached-gallery: \(message.printable)\n", to: STDERR_FILENO)
    }

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
        guard (1...86_400).contains(idleExit) else {
            throw ValidationError("--idle-exit is 1 to 86400 seconds")
        }
    }

    mutating func run() throws {
        let environment = try Environment.current()
        let paths = SocketLookup.clientPaths(flag: socket, environment: environment)
        try GallerySession(
            paths: paths, port: port, opensBrowser: !noBrowser, idle: .seconds(Int64(idleExit))
        ).run()
    }
}
