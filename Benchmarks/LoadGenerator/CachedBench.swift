import ArgumentParser

/// `cached-bench`: loads a server, times processes and reads memory; `Benchmarks/run` drives it.
///
/// Every subcommand prints one line of JSON, so that only the server under test differs between two
/// rows of the table.
@main
struct CachedBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached-bench",
        abstract: "Measure a server with one load generator for all protocols.",
        subcommands: [
            RoundTrips.self, Processes.self, Memory.self, FirstUnlink.self, EchoServer.self,
        ])
}
