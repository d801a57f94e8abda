import ArgumentParser
import CacheCore

/// `fill`: a directory as many downloads leave it, without downloading anything.
struct Fill: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Publish synthetic entries in a cache directory no daemon holds.")

    @Argument(help: "The directory; it is made where it is missing.")
    var directory: String

    @Option(help: "How many entries.")
    var count: Int

    @Option(help: "Bytes of each.")
    var bytes = 4000

    func run() throws {
        try SyntheticDirectory(path: directory).fill(count: count, bytes: bytes)
    }
}
