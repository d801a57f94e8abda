import ArgumentParser

/// `cached-entries`: makes entries nobody fetched, in memory or in a directory; `Benchmarks/run` drives it.
@main
struct CachedEntries: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached-entries",
        abstract: "Make synthetic entries, to measure what they take and what removing them costs.",
        subcommands: [Hold.self, Victims.self, Fill.self, Unlink.self, Walk.self])
}
