import ArgumentParser

/// `cached-entries`: creates synthetic entries in memory or in a directory; `Benchmarks/run` runs it.
@main
struct CachedEntries: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached-entries",
        abstract:
            "Create synthetic entries, to measure their memory and the cost of removing them.",
        subcommands: [Hold.self, Victims.self, Fill.self, Unlink.self, Walk.self, HitRatios.self])
}
