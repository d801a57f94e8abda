import CacheWire
import TestSupport

extension DaemonFixture {
    /// What a hundredth of the answers takes longer than, asked one after the other by one client.
    ///
    /// - Parameters:
    ///   - urls: Asked for in turn; each has to have the state.
    ///   - isEnough: Asked after every hundred answers: the client and the number of them.
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
