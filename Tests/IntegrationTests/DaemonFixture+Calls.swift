import CacheKey
import CacheWire
import Foundation
import TestSupport
import Testing

/// Calls over a new connection, and paths.
extension DaemonFixture {
    func ask(_ message: String) async throws -> AnyReply {
        try await connect().ask(message)
    }

    /// The item that `Status` returns for a URL.
    func status(_ url: String, details: Bool = false) async throws -> Item {
        let message = call("Status", [url], parameters: #""details":\#(details)"#)
        return try #require(try await ask(message).items.first)
    }

    /// The item that `Fetch` finally returns for a URL.
    func fetch(_ url: String) async throws -> Item {
        try #require(try await ask(call("Fetch", [url])).items.first)
    }

    /// An integer of `Stats`.
    func metric(_ name: String) async throws -> Int {
        let stats = try await ask(call("Stats")).parameters?.stats
        guard case .int(let number)? = stats?[name] else {
            throw TestFailure("Stats has no integer named \(name)")
        }
        return number
    }

    /// Waits until a URL has this state.
    func waitForState(_ state: Item.State, of url: String) async throws {
        let connection = try connect()
        try await waitUntil("\(url) to be \(state)") {
            try await connection.ask(call("Status", [url])).items.first?.state == state
        }
    }

    /// Waits until the whole directory is scanned.
    func waitForScan() async throws {
        let connection = try connect()
        try await waitUntil("the end of the scan") {
            try await connection.ask(call("Stats")).parameters?.stats?["isIndexed"] == true
        }
    }

    /// The path of a URL's image, whether it exists or not.
    func path(_ url: String) throws -> String {
        "\(directory)/\(CacheKey(try CacheURL(url)))"
    }

    /// The names in the directory except its tag, its lock and `known`.
    func names(excluding known: [String]) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
            .filter { ![".lock", ".history", "CACHEDIR.TAG"].contains($0) && !known.contains($0) }
            .sorted()
    }
}
