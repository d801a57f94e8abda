import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// The freshness of an image that came in two parts: the first response counts, although the later ones have no
/// fields (RFC 9111 §3.4).
@Suite("Cache: reuse of resumed images", .timeLimit(.minutes(5)))
struct ResumedReuseTests {
    private let image = SampleImage.png(byteCount: 200_000)

    /// An image whose first half came with these fields, and the rest with none.
    private func resume(_ fixture: CacheFixture, after fields: HeaderFields) async throws {
        let first = fields.withDefaults(["ETag": "\"1\""])
        fixture.origin.route("/a.png", .cut(image, after: 100_000, headers: first))
        #expect(try await !fixture.fetch("/a.png").failures.isEmpty)
        fixture.origin.route("/a.png") { .ranged(image, for: $0) }
        #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        #expect(fixture.origin.requests().map(\.firstOfRange) == [nil, 100_000])
    }

    @Test(arguments: [
        ("no-cache", 3), ("max-age=0", 3), ("max-age=1000", 0),
    ])
    func theFirstResponseDecidesAboutFreshness(said: String, requests: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try await resume(fixture, after: ["Cache-Control": said])
            fixture.origin.route("/a.png", [.head(304, ["ETag": "\"1\""])])
            for _ in 1...3 { #expect(try await fixture.fetch("/a.png").failures.isEmpty) }
            #expect(fixture.origin.requests().count == 2 + requests)
        }
    }

    @Test(arguments: [("max-age=0", true), ("max-age=0, must-revalidate", false)])
    func theFirstResponseDecidesAboutStaleUse(said: String, serves: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try await resume(fixture, after: ["Cache-Control": said])
            fixture.origin.route("/a.png", .answer(503, body: []))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty == serves)
        }
    }
}
