import ArgumentParser

/// `roundtrips`: closed-loop load, with one request in flight on each connection.
struct RoundTrips: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "roundtrips",
        abstract: "Send requests over N connections; print rates and latencies.")

    @Option(help: "unix:PATH or tcp:HOST:PORT.")
    var target: Endpoint

    @Option(name: .customLong("protocol"), help: "The protocol of the server.")
    var wire: WireProtocol

    @Option(help: "A file of URLs, keys or gids, one per line, requested in turn.")
    var urls: String

    @Option(help: "URLs per call; more than one only with varlink and echo.")
    var urlsPerCall = 1

    @Option(help: "The number of connections, all served by one thread.")
    var connections = 1

    @Option(help: "Seconds to measure.")
    var duration = 1.0

    @Option(help: "Seconds before the measurement starts.")
    var warmup = 0.2

    @Option(help: "Stop after this many measured requests, if that comes first.")
    var requests: Int?

    @Flag(
        help: "Print `measuring` when the measurement starts; also end it at the end of the input.")
    var untilInputEnds = false

    func validate() throws {
        guard urlsPerCall == 1 || wire.takesManyURLs else {
            throw ValidationError("\(wire.rawValue) allows only one URL per request.")
        }
        guard urlsPerCall > 0, connections > 0, requests ?? 1 > 0, duration > 0, warmup >= 0 else {
            throw ValidationError("Counts and durations must be positive.")
        }
    }

    func run() throws {
        let lines = try TextFile.lines(of: urls)
        let requestSet = try RequestSet(lines: lines, perCall: urlsPerCall, wire: wire)
        var load = try Load(
            endpoint: target, connections: connections, requests: requestSet, wire: wire)
        let limits = Load.Limits(
            warmup: warmup, duration: duration, requests: requests ?? .max,
            endsWithInput: untilInputEnds)
        print(try load.run(limits).json(urlsPerCall: urlsPerCall))
    }
}
