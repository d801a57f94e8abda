import CacheKey
import CacheWire
import Foundation
import TestSupport
import Testing

/// Questions over a connection of their own, and where things lie.
extension DaemonFixture {
    func ask(_ message: String) async throws -> AnyReply {
        try await connect().ask(message)
    }

    /// What `Status` says of one URL.
    func status(_ url: String, details: Bool = false) async throws -> Item {
        let message = call("Status", [url], parameters: #""details":\#(details)"#)
        return try #require(try await ask(message).items.first)
    }

    /// What `Fetch` says at its end of one URL.
    func fetch(_ url: String) async throws -> Item {
        try #require(try await ask(call("Fetch", [url])).items.first)
    }

    /// One of the figures of `Stats`.
    func metric(_ name: String) async throws -> Int {
        let stats = try await ask(call("Stats")).parameters?.stats
        guard case .int(let number)? = stats?[name] else {
            throw TestFailure("there is no figure \(name)")
        }
        return number
    }

    /// Waits until the state of a URL is this one.
    func waitForState(_ state: Item.State, of url: String) async throws {
        let connection = try connect()
        try await waitUntil("\(url) to be \(state)") {
            try await connection.ask(call("Status", [url])).items.first?.state == state
        }
    }

    /// Waits until the whole directory is known.
    func waitForScan() async throws {
        let connection = try connect()
        try await waitUntil("the end of the scan") {
            try await connection.ask(call("Stats")).parameters?.stats?["isIndexed"] == true
        }
    }

    /// Where the image of a URL lies, or will.
    func path(_ url: String) throws -> String {
        "\(directory)/\(CacheKey(try CacheURL(url)))"
    }

    /// What lies in the directory beside its tag and its lock and these names.
    func names(besides known: [String]) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory)
            .filter { ![".lock", "CACHEDIR.TAG"].contains($0) && !known.contains($0) }.sorted()
    }
}

/// The name of the attribute that holds the record of a URL.
func recordName(_ url: String) throws -> String {
    "user.cached." + CacheKey(try CacheURL(url)).description.prefix(8)
}

/// The size of what lies at a path, links not followed; `nil` when nothing does.
func size(at path: String) -> Int? {
    let attributes = try? FileManager.default.attributesOfItem(atPath: path)
    return (attributes?[.size] as? NSNumber)?.intValue
}

/// The SHA-256 of bytes in hex, as sha256sum(1) has it.
func sha256(_ bytes: [UInt8]) async throws -> String {
    String(try await runSuccessfully("sha256sum", ["-"], input: bytes).prefix(64))
}
