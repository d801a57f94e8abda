import ArgumentParser
import CacheWire
import Glibc

/// `cachectl open`
struct OpenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open images in the desktop's viewer. Downloads what is missing.",
        discussion: """
            The viewer gets a link whose name ends as the type of the image demands, such as .png, \
            because the files of the cache have no such ending. The links are in \
            $XDG_RUNTIME_DIR/cachectl, and those of removed images go with the next "open". The \
            viewer is that of xdg-open(1), else of gio(1), else $BROWSER.
            Exit status: 0 all images were opened; 1 a download or the viewer failed.
            Example: cachectl open https://example.com/a.png
            """)

    @OptionGroup var socket: SocketOption

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp("The program that opens the images.", valueName: "program"))
    var program: String?

    @OptionGroup var arguments: URLArguments

    func run() throws {
        let opener = try opener()
        let client = try socket.connectOrStart()
        let session = FetchSession(client: client, display: .onTerminal())
        var tree: LinkTree?
        try session.each(of: try arguments.read()) { item in
            let links = try tree ?? PrivateLinks.open(cache: client.directory())
            tree = links
            let link = try links.link(item)
            let path = "\(links.path)/\(link.place.joined(separator: "/"))"
            guard ExternalProgram.run(opener.program, opener.arguments + [path]) else {
                throw CommandFailure(
                    status: .incomplete, message: "\(opener.program) did not open \(path)")
            }
        }
    }

    private func opener() throws -> ImageOpener {
        if let program { return ImageOpener(program: program) }
        let found = ImageOpener(
            browsers: getenv("BROWSER").map { String(cString: $0) },
            isInstalled: { ExternalProgram.find($0) != nil })
        guard let found else {
            throw CommandFailure(
                status: .incomplete,
                message: "no program opens images: install xdg-utils, set BROWSER, name one with "
                    + "--with, or use `cachectl show`")
        }
        return found
    }
}
