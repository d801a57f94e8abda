import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheModel

/// Two images in a cache that has space for one of them.
@Suite("Cache: waiting for space", .timeLimit(.minutes(5)))
struct WaitingForSpaceTests {
    private let image = SampleImage.png(byteCount: 2 << 20)

    private func limit(_ settings: inout CacheSettings) {
        settings.limits.maximumBytes = 3 << 20
        settings.limits.minimumFree = 0
    }

    @Test func aWaitingDownloadContinuesOnceTheOtherIsEvictable() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope, limit)
            let gate = try Gate()
            fixture.origin.route("/first.png", .gated(image, after: 1 << 20, gate))
            fixture.origin.route("/second.png", .answer(body: image))
            let first = fixture.cache.fetch(
                [try fixture.imageRequest("/first.png")], FetchOptions())
            try await gate.reached()
            try await fixture.lookup("/first.png") { ($0.progress?.received ?? 0) > 1 << 19 }
            let second = fixture.cache.fetch(
                [try fixture.imageRequest("/second.png")], FetchOptions())
            try await waitUntil("the request for the second image") {
                fixture.origin.requests("/second.png").count == 1
            }
            gate.open()
            #expect(try await fixture.outcome(of: first).failures.isEmpty)
            #expect(try await fixture.outcome(of: second).failures.isEmpty)
            #expect(try contents(of: fixture.file("/second.png")) == image)
            // The download stops, and starts again when there is space.
            #expect(fixture.origin.requests("/second.png").count == 2)
        }
    }

    /// Bytes of a waiting download would fill the shared connection. So the download stops, and
    /// asks again once there is space.
    @Test func aWaitingDownloadReleasesItsSharedConnection() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let slow = try ScriptedOrigin(in: scope)
            let root = try TemporaryDirectory(in: scope)
            try root.write(image, to: "second.png")
            let nginx = try await Nginx(
                serving: ["/": root.path], tls: authority.issue(for: ["IP:127.0.0.1"]),
                extra: """
                    location = /first.png { proxy_pass \(slow.url("")); proxy_buffering off; }
                    """, in: scope)
            let gate = try Gate()
            slow.route("/first.png", .gated(image, after: 1 << 20, gate))
            let fixture = try CacheFixture(in: scope) {
                limit(&$0)
                $0.transfers.certificateFile = authority.certificate
            }
            let imageRequests = try ["first.png", "second.png"].map {
                ImageRequest(try CacheURL(nginx.url($0)))
            }
            let first = fixture.cache.fetch([imageRequests[0]], FetchOptions())
            try await gate.reached()
            let second = fixture.cache.fetch([imageRequests[1]], FetchOptions())
            // 206 if bytes came before it stopped.
            func times() -> Int { nginx.log.ranges(of: /GET \/second.png 20[06] HTTP\/2.0/).count }
            try await waitUntil("the second request to end") { times() == 1 }
            gate.open()
            for waiter in [first, second] {
                #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            }
            try await waitUntil("the second image to be requested again") { times() == 2 }
            #expect(try contents(of: fixture.cache.path(of: imageRequests[1].key)) == image)
            #expect(slow.requests().count == 1)
        }
    }
}
