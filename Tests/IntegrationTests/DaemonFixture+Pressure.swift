import CacheWire
import TestSupport
import Testing

extension DaemonFixture {
    /// The figures of `Stats`.
    func statistics() async throws -> [String: JSONValue] { try await statsReply().stats }

    /// The complete reply of `Stats`.
    func statsReply() async throws -> Methods.Stats.Reply {
        let reply = try #require(try await ask(call("Stats")).parameters)
        return Methods.Stats.Reply(
            stats: try #require(reply.stats), histograms: reply.histograms,
            failures: reply.failures)
    }

    /// Waits until this source is watched, by its name in `Stats`.
    func waitForPressureSource(_ source: String) async throws {
        try await waitUntil("\(source) to be watched") {
            try await statistics()["pressureSource"] == .string(source)
        }
    }
}
