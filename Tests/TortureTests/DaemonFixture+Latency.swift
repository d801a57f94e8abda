import CacheWire
import TestSupport

extension DaemonFixture {
    /// The 99th percentile of the latency of `Status`, called repeatedly by one client.
    ///
    /// - Parameters:
    ///   - urls: The URLs, one per call; each must have the given state.
    ///   - isEnough: Called after every hundred replies with the client and the number of replies.
    func p99Latency(
        of urls: [String], _ state: Item.State,
        until isEnough: @escaping @Sendable (Client, Int) throws -> Bool
    ) async throws -> Duration {
        try await offPool { [socket] in
            let client = try Client(paths: [socket])
            var times: [Duration] = []
            repeat {
                for _ in 0..<100 {
                    let url = urls[times.count % urls.count]
                    let watch = Stopwatch()
                    let items = try client.call(Methods.Status.self, .init(urls: [url])).items
                    times.append(watch.time)
                    guard items.first?.state == state else {
                        throw TestFailure("\(url) is \(String(describing: items.first?.state))")
                    }
                }
            } while try !isEnough(client, times.count)
            return times.sorted()[times.count * 99 / 100]
        }
    }
}
