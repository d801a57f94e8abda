import ArgumentParser
import CacheWire

/// `cachectl import`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Put image files that are already here under their URLs. No daemon is needed.",
        discussion: """
            Each file is checked and copied into the cache directory, where it is the cached image of its \
            URL; a daemon that runs takes it up at once. The time of its last change counts as the \
            time at which the origin sent it, so it is asked again when that is an hour ago. An image that \
            is already cached stays as it is.
            With a - in place of the arguments, standard input has one image a line: its URL, a tab, \
            and its file.
            Exit status: 0 all images are cached; 1 at least one is not.
            Example: cachectl import https://example.com/a.png ~/Pictures/a.png
            """)

    @OptionGroup var socket: SocketOption

    @Option(
        help: ArgumentHelp(
            "The cache directory. Default: as that of name.", valueName: "path"))
    var directory: String?

    @Argument(
        help: ArgumentHelp(
            "A URL and its file, alternately; - reads them from standard input.",
            valueName: "url file"))
    var images: [String]

    func run() throws {
        try CommandFailure.checkThatKeysCanBeComputed()
        let list = images == ["-"] ? try ImportList.read() : try ImportList(arguments: images)
        let path = try directory ?? DirectorySearch(socket: socket.socket).directory()
        let folder = try ImportFolder(path, rules: try NameRules.find(socket: socket.socket))
        try ImportSession(folder: folder).run(list)
    }
}
