import ArgumentParser
import Glibc

/// `unlink`: the minimal cost of removing the entries of a directory, as a reference.
struct Unlink: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Unlink the entries that `fill` made, least recently used first; print the time.")

    @Argument(help: "The directory.")
    var path: String

    @Option(help: "The number of entries.")
    var count: Int

    func run() throws {
        let names = try SyntheticDirectory.names(count: count).map { strdup($0) }
        let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw ValidationError("cannot open \(path)") }
        let clock = ContinuousClock()
        var failures = 0
        let duration = clock.measure {
            for name in names where unlinkat(directory, name!, 0) != 0 { failures += 1 }
        }
        guard failures == 0 else { throw ValidationError("\(failures) files did not exist") }
        print("{\"seconds\":\(duration / .seconds(1))}")
    }
}
