import CacheWire
import TestSupport
import Testing

extension DaemonFixture {
    /// The complete reply of `Stats`.
    func statistics() async throws -> [String: JSONValue] {
        try #require(try await ask(call("Stats")).parameters?.stats)
    }

    /// Waits until this source is watched, by its name in `Stats`.
    func waitForPressureSource(_ source: String) async throws {
        try await waitUntil("\(source) to be watched") {
            try await statistics()["pressureSource"] == .string(source)
        }
    }
}
