import ArgumentParser

/// `fill`: creates a directory as many downloads would leave it, without downloading anything.
struct Fill: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish synthetic entries in a cache directory that no daemon uses.")

    @Argument(help: "The directory; it is created if it does not exist.")
    var directory: String

    @Option(help: "The number of entries.")
    var count: Int

    @Option(help: "The size of each entry in bytes.")
    var bytes = 4000

    @Option(
        help:
            "A folder of smaller images with names like 256-NAME.jpg: entries are photographs that have them, in turn."
    )
    var thumbnails: String?

    func run() throws {
        let made = SyntheticDirectory(path: directory)
        guard let thumbnails else { return try made.fill(count: count, bytes: bytes) }
        try made.fill(count: count, with: try Photograph.all(in: thumbnails))
    }
}
