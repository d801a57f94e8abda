import CacheWire
import Glibc
import TestSupport
import Testing

/// A program that reads the directory by itself knows how far a download is, and whether it still runs.
@Suite("Downloads read without the daemon", .timeLimit(.minutes(5)))
struct PlainReaderTests {
    /// The kinds of bodies that stop in the middle until a gate opens.
    private static let bodies:
        [(name: String, total: Int?, script: @Sendable ([UInt8], Gate) -> OriginScript)] = [
            (
                "with a validator", 200_000,
                { .gated($0, after: 100_000, $1, headers: ["ETag": "\"1\""]) }
            ),
            ("without a validator", 200_000, { .gated($0, after: 100_000, $1) }),
            (
                "no-store", 200_000,
                { .gated($0, after: 100_000, $1, headers: ["Cache-Control": "no-store"]) }
            ),
            ("small", 9000, { .gated(Array($0.prefix(9000)), after: 4000, $1) }),
            (
                "chunked", nil,
                { image, gate in
                    [
                        .head(200, ["Transfer-Encoding": "chunked"]),
                        .chunk(Array(image[..<100_000])),
                        .wait(gate), .chunk(Array(image[100_000...])), .chunk([]),
                    ]
                }
            ),
        ]

    @Test func downloadsLookAsTheDaemonSaysWhileTheyRunAndAfterwards() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            for (name, total, script) in Self.bodies {
                let image = SampleImage.png(byteCount: total == 9000 ? 9000 : 200_000)
                let path = "/\(name.replacing(" ", with: "-")).png"
                let gate = try Gate()
                origin.route(path, script(image, gate))
                let url = origin.url(path)
                let file = try daemon.path(url)
                #expect(PlainReader.state(ofPath: file) == .missing, "\(name)")
                let client = try daemon.connect()
                try await client.send(call("Fetch", [url]) + "\0")
                try await gate.reached()
                let received = total == 9000 ? 4000 : 100_000
                try await waitUntil("\(name) to be in flight") {
                    PlainReader.state(ofPath: file) == .inFlight(received: received, of: total)
                }
                let item = try await daemon.status(url)
                #expect(item.state == .inFlight && item.received == received && item.total == total)
                gate.open()
                try await daemon.waitForState(.cached, of: url)
                #expect(PlainReader.state(ofPath: file) == .cached, "\(name)")
                let attributes = try ExtendedAttributes(of: file).names()
                #expect(!attributes.contains("user.cached.total"), "\(name)")
            }
        }
    }

    @Test(arguments: [false, true])
    func aDownloadOfADaemonThatIsGoneIsInterrupted(isKilled: Bool) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 200_000)
            origin.route("/a.png", .gated(image, after: 100_000, gate, headers: ["ETag": "\"1\""]))
            let daemon = try await DaemonFixture.start(in: scope)
            let file = try daemon.path(origin.url("/a.png"))
            let client = try daemon.connect()
            try await client.send(call("Fetch", [origin.url("/a.png")]) + "\0")
            try await waitUntil("the download to be in flight") {
                PlainReader.state(ofPath: file) == .inFlight(received: 100_000, of: 200_000)
            }
            if isKilled { try await daemon.kill() } else { try await daemon.stop() }
            #expect(PlainReader.state(ofPath: file) == .interrupted(received: 100_000, of: 200_000))
            gate.open()
            let next = try await daemon.restart()
            origin.route("/a.png") { .ranged(image, for: $0) }
            #expect(try await next.fetch(origin.url("/a.png")).state == .cached)
            #expect(PlainReader.state(ofPath: file) == .cached)
        }
    }
}
