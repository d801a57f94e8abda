import CacheWire
import Glibc
import TestSupport
import Testing

/// Downloads interrupted by the end of a daemon, which the next daemon resumes.
@Suite("Resume", .serialized, .timeLimit(.minutes(5)))
struct ResumeTests {
    private static let image = SampleImage.png(byteCount: 300_000)

    @Test func aDownloadInterruptedByACrashResumes() async throws {
        try await continues(after: 123_456) { try await $0.kill() }
    }

    @Test func aDownloadInterruptedByAStopResumes() async throws {
        try await continues(after: 99_999) { try await $0.stop() }
    }

    private func continues(
        after count: Int, _ end: (DaemonFixture) async throws -> Void
    ) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png") { request in
                request.id == 0
                    ? .gated(Self.image, after: count, gate, headers: ["ETag": "\"1\""])
                    : .ranged(Self.image, for: request)
            }
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: [#""more":true"#]) + "\0")
            let part = try daemon.path(url) + ".part"
            try await waitUntil("\(count) bytes") { size(at: part) == count }
            try await end(daemon)
            #expect(size(at: try daemon.path(url) + ".part") == count)

            let again = try await daemon.restart()
            #expect(try await again.fetch(url).state == .cached)
            #expect(try contents(of: again.path(url)) == Self.image)
            #expect(try again.names(excluding: []).count == 1)
            #expect(origin.requests("/a.png").map(\.firstOfRange) == [nil, count])
            let item = try await again.status(url, details: true)
            #expect(item.sha256 == (try await sha256(Self.image)))
            let attributes = ExtendedAttributes(of: try again.path(url))
            #expect(try attributes["user.cached.partial"] == nil)
        }
    }
}
