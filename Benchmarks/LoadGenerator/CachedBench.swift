import ArgumentParser

/// `cached-bench`: loads a server, times processes and measures memory; `Benchmarks/run` runs it.
///
/// Every subcommand prints one line of JSON. All servers are loaded by the same code, so two rows of the
/// table differ only in the server.
@main
struct CachedBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cached-bench",
        abstract: "Measure a server with one load generator for all protocols.",
        subcommands: [
            RoundTrips.self, Processes.self, Memory.self, FirstUnlink.self, EchoServer.self,
        ])
}
