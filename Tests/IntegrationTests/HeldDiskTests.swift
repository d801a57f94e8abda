import CacheWire
import Glibc
import TestSupport
import Testing

/// The thread that writes large images stands still, as with a disk that takes nothing.
@Suite("A disk that holds", .serialized, .timeLimit(.minutes(5)))
struct HeldDiskTests {
    private static let large = SampleImage.png(byteCount: 24_000_000)
    private static let small = SampleImage.png(byteCount: 8000, seed: 1)

    @Test(.disabled(if: isSanitized, "a sanitizer stops with a thread"))
    func smallImagesArriveAndLargeOnesTakeNoMoreMemoryThanThePieces() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/large.png", .answer(body: Self.large))
            let daemon = try await DaemonFixture.start(in: scope)
            let large = origin.url("/large.png")
            let part = try daemon.path(large) + ".part"
            // What the first image needs is no matter of this test.
            origin.route("/0.png", .answer(body: Self.small))
            #expect(try await daemon.fetch(origin.url("/0.png")).state == .cached)
            let before = try ProcessUsage(of: daemon.process.pid).anonymousBytes

            let frozen = try await FrozenThread(of: daemon.process, named: "bytes")
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [large], flags: [#""more":true"#]) + "\0")
            try await waitUntil("the partial") { size(at: part) == 0 }
            for number in 1...20 {
                let path = "/\(number).png"
                origin.route(path, .answer(body: Self.small))
                #expect(try await daemon.fetch(origin.url(path)).state == .cached)
            }
            #expect(size(at: part) == 0)
            let held = try ProcessUsage(of: daemon.process.pid).anonymousBytes - before
            #expect(held < 10 << 20, "of 24 MB")

            try await frozen.thaw()
            try await daemon.waitForState(.cached, of: large)
            #expect(try contents(of: daemon.path(large)) == Self.large)
            let item = try await daemon.status(large, details: true)
            #expect(item.sha256 == (try await sha256(Self.large)))
        }
    }

    /// Half an image is on its way to the disk when the daemon is killed. The next one continues with what the file has.
    @Test(.disabled(if: isSanitized, "a sanitizer stops with a thread"))
    func aDaemonThatIsKilledLeavesWhatWasWritten() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png") { request in
                request.id == 0
                    ? .gated(Self.large, after: 3_000_000, gate, headers: ["ETag": "\"1\""])
                    : .ranged(Self.large, for: request)
            }
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let part = try daemon.path(url) + ".part"
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: [#""more":true"#]) + "\0")
            try await waitUntil("the first bytes") { size(at: part) ?? 0 > 100_000 }
            try await daemon.kill()
            let written = try #require(size(at: part))

            let again = try await daemon.restart()
            #expect(try await again.fetch(url).state == .cached)
            #expect(try contents(of: again.path(url)) == Self.large)
            #expect(origin.requests("/a.png").map(\.firstOfRange) == [nil, written])
        }
    }
}
