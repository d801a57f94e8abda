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

    func run() throws {
        try SyntheticDirectory(path: directory).fill(count: count, bytes: bytes)
    }
}
