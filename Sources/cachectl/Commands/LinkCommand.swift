import ArgumentParser
import CacheWire

/// `cachectl link`
struct LinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link",
        abstract: "Make a tree of links to all cached images, with names and endings.",
        discussion: """
            The links are DIRECTORY/HOST/PATH/name.ext, for file managers, slide shows and other \
            programs that want names. Links of removed images are removed. Nothing else in \
            DIRECTORY is changed: other files, and links that lead elsewhere, stay. With --follow \
            the tree is kept up to date, and each change is printed.
            Exit status: 0 success; 1 some links could not be made.
            Example: cachectl link ~/Pictures/cached && imv -r ~/Pictures/cached
            """)

    @OptionGroup var socket: SocketOption
    @OptionGroup var format: JSONFlag

    @Flag(help: "Keep the links up to date until interrupted.")
    var follow = false

    @Argument(help: ArgumentHelp("It is created if it is missing.", valueName: "directory"))
    var directory: String

    func run() throws {
        let client = try socket.connectOrStart()
        let tree = try LinkTree(path: directory, cache: client.directory())
        let session = LinkSession(
            client: client, connect: socket.connect, tree: tree, json: format.json)
        if follow { try session.follow() } else { try session.update() }
    }
}
