public import ArgumentParser
import CLinux
public import CacheWire
import Glibc
import NIOCore
import NIOPosix

/// The `cached-gallery` program.
@main
struct CachedGallery: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached-gallery",
        abstract: "Show the image cache as a live page in the browser.",
        discussion: """
            Listens on 127.0.0.1 and opens the page in the user's browser. Ends a minute after the page \
            is closed, or with Ctrl-C. The address contains a secret: anyone who has it can see and \
            manage the cache.

            With --serve it is another server: for programs that can only use URLs, it serves images \
            whose addresses an application has signed. It runs until a signal ends it.
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
            "End after this time without a page.", valueName: "time"))
    var idleExit = TimeSpan(.seconds(60))

    @Flag(help: "Serve signed addresses of images instead of the page.")
    var serve = false

    @Option(
        help: ArgumentHelp(
            "With --serve: the file with the secret, which only its owner can read.",
            valueName: "file"),
        completion: .file())
    var secretFile: String?

    @Option(
        help: ArgumentHelp(
            "With --serve: another name and port under which browsers know it.", valueName: "host"))
    var host: [String] = []

    @Option(
        help: ArgumentHelp(
            "Print the signed path of an image, by the secret of --secret-file, and exit.",
            valueName: "url"))
    var sign: String?

    @Option(
        help: ArgumentHelp(
            "With --sign: the time after which the path is worth nothing, such as 1d.",
            valueName: "time"))
    var expiresIn: TimeSpan?

    static func main() {
        clinux_take_standard_descriptors()
        signal(SIGPIPE, SIG_IGN)
        do {
            if let problem = ProgramArguments.problem { throw ProgramFailure.usage(problem) }
            let command = try parseAsRoot()
            guard var gallery = command as? CachedGallery else {
                var command = command
                return try command.run()
            }
            try gallery.run()
        } catch let failure as ProgramFailure {
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
        StandardStreams.write("cached-gallery: \(message.printable)\n", to: STDERR_FILENO)
    }

    func validate() throws {
        guard (0...65535).contains(port) else { throw ValidationError("--port is 0 to 65535") }
        guard (1...86_400).contains(idleExit.seconds) else {
            throw ValidationError("--idle-exit is 1s to 1d")
        }
        guard (serve || sign != nil) == (secretFile != nil), !serve || sign == nil else {
            throw ValidationError("--secret-file belongs to --serve or --sign, and they to it")
        }
        guard host.isEmpty || serve, expiresIn == nil || sign != nil else {
            throw ValidationError("--host belongs to --serve, and --expires-in to --sign")
        }
        guard (1...1_000_000_000).contains(expiresIn?.seconds ?? 1) else {
            throw ValidationError("--expires-in is 1s to 1000000000s")
        }
    }

    mutating func run() throws {
        let signature = try secretFile.map { Signature(secret: try SecretFile.read($0)) }
        if let sign, let signature { return try printPath(of: sign, signature) }
        let environment = try Environment.current()
        let paths = SocketLookup.clientPaths(flag: socket, environment: environment)
        if let signature {
            let session = FaceSession(paths: paths, port: port, hosts: host, signature: signature)
            return try session.run()
        }
        do {
            _ = try Client(paths: paths, startingAt: socket)
        } catch {
            StandardStreams.write("cached-gallery: \(error)\n", to: STDERR_FILENO)
        }
        try GallerySession(
            paths: paths, port: port, opensBrowser: !noBrowser,
            idle: .milliseconds(idleExit.milliseconds)
        ).run()
    }

    private func printPath(of url: String, _ signature: Signature) throws(ProgramFailure) {
        let expiry = expiresIn.map { $0.seconds + time(nil) }
        guard let path = signature.path(url, until: expiry) else { throw .noLibcrypto }
        StandardStreams.write("\(path)\n", to: STDOUT_FILENO)
    }
}

extension TimeSpan: ExpressibleByArgument {}
