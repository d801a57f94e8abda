import CacheWire
import Foundation
import TestSupport
import Testing

/// The Python interpreter that has the packages.
private let interpreter = ProcessInfo.processInfo.environment["CACHED_TEST_PYTHON"]

/// Varlink clients written by others: the packages `varlink` and `asyncvarlink` of PyPI.
@Suite(
    "Third-party clients", .serialized, .timeLimit(.minutes(5)),
    .enabled(
        if: interpreter != nil,
        "CACHED_TEST_PYTHON names no interpreter; .ci/python-clients prepares one"))
struct ThirdPartyClientTests {
    /// The output of both scripts; each has a few members of its own.
    struct Report: Decodable {
        struct Info: Decodable {
            var product: String
            var interfaces: [String]
        }
        struct Removal: Decodable {
            var entries: Int
            var bytes: Int
        }
        var info: Info
        var description: String
        var unknownInterface: String
        var missing: [Item]
        var fetched: [Item]
        var details: [Item]
        var list: [Item]
        var stats: [String: JSONValue]
        var unwaited: [Item]
        var first: [Item]
        var last: [Item]
        var removed: Removal
        var after: [Item]
        var stillThere: [Item]
        // varlink only
        var methods: [String]?
        var pin: String?
        // asyncvarlink only
        var invalidParameter: String?
    }

    @Test(arguments: ["varlink", "asyncvarlink"])
    func canMakeEveryBasicCall(_ package: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 5000)
            origin.route("/plain.png", .answer(body: image))
            let other = SampleImage.png(byteCount: 5000, seed: 1)
            origin.route("/gated.png", .gated(other, after: 1000, gate))
            let (plain, gated) = (origin.url("/plain.png"), origin.url("/gated.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let report = try await run(package, daemon, [gated, plain, "nonsense"], gate, scope)

            #expect(report.info.product == "cached")
            #expect(report.info.interfaces.sorted() == ["io.cached.Cache", "org.varlink.service"])
            #expect(report.description == (try installedDescription()))
            #expect(report.unknownInterface == "io.other")
            #expect(report.missing.map(\.state) == [.missing, .missing])
            #expect(report.missing.map(\.failure?.kind) == [nil, "invalidURL"])
            #expect(report.fetched.map(\.path) == [try daemon.path(plain)])
            #expect(report.details.map(\.sha256) == [try await sha256(image)])
            #expect(report.list.map(\.url) == [plain])
            #expect(report.stats["entries"] == 1)
            #expect(report.unwaited.map(\.state) == [.inFlight])
            #expect(report.first.map(\.state) == [.inFlight])
            #expect(report.last.map(\.state) == [.cached])
            #expect(report.removed.entries == 1 && report.removed.bytes >= 5000)
            #expect(report.after.map(\.state) == [.missing])
            #expect(report.stillThere.map(\.state) == [.missing])
            #expect(origin.requests().count == 2)
            if package == "varlink" {
                let methods = try #require(report.methods)
                #expect(methods.contains("Status") && methods.contains("Watch"))
                #expect(methods.count == 15)
                #expect(report.pin?.hasPrefix("org.varlink.service.") != false)
            } else {
                #expect(report.invalidParameter == "limit")
            }
        }
    }

    /// Runs a script and opens the gate when the script reads its stream.
    private func run(
        _ package: String, _ daemon: DaemonFixture, _ urls: [String], _ gate: Gate,
        _ scope: TestScope
    ) async throws -> Report {
        let script = "\(Self.directory)/ThirdParty/\(package)-client.py"
        let client = try ChildProcess(
            try #require(interpreter), [script, daemon.socket] + urls, in: scope)
        try await client.waitForLine(containing: "streaming", on: .standardOutput)
        gate.open()
        let status = try await client.waitForExit()
        guard status == .success,
            let line = client.text(.standardOutput).split(separator: "\n").last
        else { throw TestFailure("\(package): \(status)\n\(client.text(.standardError))") }
        return try JSONDecoder().decode(Report.self, from: Data(line.utf8))
    }

    /// The interface description that gets installed.
    private func installedDescription() throws -> String {
        let file = "\(Self.directory)/../../etc/io.cached.Cache.varlink"
        return String(decoding: try contents(of: file), as: UTF8.self)
    }

    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
}
