import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// A daemon, an origin, and images of that origin in the daemon's directory.
struct FilledDirectory {
    let origin: ScriptedOrigin
    var daemon: DaemonFixture
    let urls: [String]
    let images: [[UInt8]]
    let elsewhere: TemporaryDirectory

    /// - Parameter sizes: bytes of each image.
    init(
        _ sizes: [Int], _ options: DaemonFixture.Options = .init(), in scope: TestScope
    ) async throws {
        let origin = try ScriptedOrigin(in: scope)
        self.origin = origin
        elsewhere = try TemporaryDirectory(in: scope)
        images = sizes.enumerated().map { number, size in
            SampleImage.png(byteCount: size, seed: number)
        }
        urls = sizes.indices.map { origin.url("/\($0).png") }
        for (number, image) in images.enumerated() {
            origin.route("/\(number).png", .answer(body: image))
        }
        daemon = try await DaemonFixture.start(options, in: scope)
        let states = try await fetch(urls).map(\.state)
        try #require(states.allSatisfy { $0 == .cached })
        for url in urls { _ = try await ExtendedAttributes.all(of: path(url)) }
    }

    var directory: String { daemon.directory }

    /// The path of a URL's image, whether it exists or not.
    func path(_ url: String) throws -> String {
        "\(directory)/\(CacheKey(try CacheURL(url)))"
    }

    func path(_ number: Int) throws -> String { try path(urls[number]) }

    /// The name of the attribute with an entry's record.
    static func recordName(_ url: String) throws -> String {
        "user.cached." + CacheKey(try CacheURL(url)).description.prefix(8)
    }

    func recordName(_ number: Int) throws -> String { try Self.recordName(urls[number]) }

    // MARK: Calls

    func status(_ urls: [String]) async throws -> [Item] {
        try await ask(Methods.Status.self, .init(urls: urls)).items
    }

    func fetch(_ urls: [String]) async throws -> [Item] {
        try await ask(Methods.Fetch.self, .init(urls: urls)).items
    }

    func state(_ number: Int) async throws -> Item.State {
        try #require(try await status([urls[number]]).first).state
    }

    func fetch(_ number: Int) async throws -> Item {
        try #require(try await fetch([urls[number]]).first)
    }

    func listed() async throws -> Set<String> {
        Set(try await ask(Methods.List.self, .init()).items.map(\.key))
    }

    func stats() async throws -> [String: JSONValue] {
        try await ask(Methods.Stats.self, .init()).stats
    }

    func verify(repair: Bool = false) async throws -> Methods.Verify.Reply {
        try await ask(Methods.Verify.self, .init(repair: repair))
    }

    /// Makes one call over a new connection.
    func ask<M: CacheWire.Method & SendableMetatype>(
        _: M.Type, _ parameters: M.Parameters
    ) async throws -> M.Reply {
        let socket = daemon.socket
        return try await offPool {
            try Client(paths: [socket]).call(M.self, parameters)
        }
    }

    func waitForScan() async throws {
        try await waitUntil("the end of the scan") { try await stats()["isIndexed"] == true }
    }

    /// Stops the daemon, runs `change`, and starts another daemon.
    mutating func restart(_ change: () async throws -> Void = {}) async throws {
        try await daemon.stop()
        try await change()
        daemon = try await daemon.restart()
    }

    /// The entry exists and has the origin's bytes.
    func expectWhole(_ number: Int, _ comment: Comment? = nil) throws {
        #expect(try contents(of: try path(number)) == images[number], comment)
    }
}
