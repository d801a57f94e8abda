import CacheWire
import Glibc
import TestSupport
import Testing

/// Header fields that name the operator to an origin, and the notices about them.
@Suite("Who asks", .timeLimit(.minutes(5)))
struct AskerTests {
    private let image = SampleImage.png()

    /// A configuration directory whose `headers.d` sends credentials to an origin.
    private func configuration(
        for origin: ScriptedOrigin, in scope: TestScope
    ) throws -> String {
        let directory = try TemporaryDirectory(in: scope)
        try directory.directory("headers.d")
        let file = try directory.write(
            "[\(origin.url(""))]\nAuthorization: Bearer secret\n", to: "headers.d/matrix")
        try #require(chmod(file, 0o600) == 0)
        return try directory.write("", to: "cached.conf")
    }

    @Test(arguments: [("no", true), ("yes", false)])
    func credentialsGoToTheirOriginAloneAndMakeImagesPrivate(
        shared: String, isKept: Bool
    ) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let other = try ScriptedOrigin(in: scope)
            let file = try configuration(for: origin, in: scope)
            origin.route("/a.png", .answer(body: image))
            origin.route("/away.png", .redirect(to: other.url("/b.png")))
            other.route("/b.png", .answer(body: image))
            other.route("/back.png", .redirect(to: origin.url("/a.png")))
            let daemon = try await DaemonFixture.start(
                ["--config", file, "--shared", shared, "--log-level", "trace"], in: scope)
            for url in [origin.url("/a.png"), origin.url("/away.png"), other.url("/back.png")] {
                #expect(try await daemon.fetch(url).state == .cached, "\(url)")
            }
            #expect(
                origin.requests().allSatisfy { $0.headers["Authorization"] == "Bearer secret" })
            #expect(other.requests().allSatisfy { $0.headers["Authorization"] == nil })
            // Images that a shared cache must not keep are requested again.
            let before = origin.requests("/a.png").count
            #expect(try await daemon.fetch(origin.url("/a.png")).state == .cached)
            #expect((origin.requests("/a.png").count == before) == isKept)
            let stats = try await daemon.cachectl("stats", "--json").lines.joined()
            #expect(!stats.contains("secret"))
            #expect(!daemon.process.text(.standardError).contains("secret"))
        }
    }

    @Test func aProxyOfTheEnvironmentLeadsToANotice() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(
                environment: ["https_proxy": "http://127.0.0.1:9"], in: scope)
            try await daemon.process.waitForLine(containing: "set one with --proxy")
        }
    }
}
