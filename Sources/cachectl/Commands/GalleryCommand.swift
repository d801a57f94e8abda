import ArgumentParser
import Glibc

/// `cachectl gallery`
struct GalleryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gallery",
        abstract: "Show the cache as a live page in the browser.",
        discussion: """
            Starts cached-gallery(1), which listens on 127.0.0.1 and ends a minute after the page is \
            closed, or with Ctrl-C. The page has a secret address: anyone who has it can see and \
            manage the cache. The browser is $BROWSER, else that of xdg-open(1) or gio(1).
            Example: cachectl gallery --no-browser
            """)

    @OptionGroup var socket: SocketOption

    @Flag(help: "Print the address instead of opening a browser.")
    var noBrowser = false

    @Option(help: "The port of 127.0.0.1; 0 for a free one.")
    var port = 0

    func run() throws {
        var words = ["cached-gallery", "--port", "\(port)"]
        if let socket = socket.socket { words += ["--socket", socket] }
        if noBrowser { words.append("--no-browser") }
        let places = try GalleryProgram.places()
        for place in places { GalleryProgram.replaceProcess(place, words) }
        throw CommandFailure(
            status: .incomplete,
            message: "cached-gallery is at none of \(places.joined(separator: ", ")): install it")
    }
}

/// The program that serves the page. It is another one so that this one starts as fast as ever.
private enum GalleryProgram {
    /// Beside this program, and where programs are that people do not start. /proc/self/exe, proc(5).
    static func places() throws -> [String] {
        guard let own = realpath("/proc/self/exe", nil) else {
            throw CommandFailure(
                status: .inputOutput, message: "cannot read /proc/self/exe; mount /proc")
        }
        defer { free(own) }
        let directory = String(cString: own).split(separator: "/").dropLast()
        let folders = [directory, directory.dropLast() + ["libexec"]]
        return folders.map { "/\($0.joined(separator: "/"))/cached-gallery" }
    }

    /// Makes this process another program; returns if there is none. execv(3).
    static func replaceProcess(_ path: String, _ words: [String]) {
        var argv = words.map { strdup($0) } + [nil]
        defer { argv.forEach { free($0) } }
        execv(path, &argv)
    }
}
