import ArgumentParser
import CacheCore
import Glibc

/// `cached-entries`: holds synthetic entries, for `Benchmarks/run` to look at its memory from outside.
@main
struct EntryMemory: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached-entries",
        abstract: "Fill an index with synthetic entries, say so, and keep it until the input ends.")

    @Argument(help: "How many entries.")
    var count: Int

    func run() {
        let index = SyntheticIndex(count: count)
        print("filled")
        fflush(nil)
        while readLine() != nil {}
        _ = consume index
    }
}
