import CacheKey
import CacheWire
import TestSupport
import Testing

/// `Status` with details returns the values that the next request to the origin depends on.
@Suite("Details of the origin", .timeLimit(.minutes(5)))
struct OriginDetailsTests {
    @Test func validatorsAndTheEndOfARedirectAreTold() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let target = origin.url("/target.png")
            origin.route("/a.png", .redirect(to: target))
            origin.route(
                "/target.png",
                .answer(
                    headers: [
                        "ETag": "\"é\\1\"", "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
                        "Cache-Control": "max-age=60, must-revalidate",
                    ], body: SampleImage.png()))
            origin.route("/plain.png", .answer(body: SampleImage.png()))
            let daemon = try await DaemonFixture.start(in: scope)
            for path in ["/a.png", "/target.png", "/plain.png"] {
                #expect(try await daemon.fetch(origin.url(path)).state == .cached)
            }
            let item = try await daemon.status(origin.url("/a.png"), details: true)
            #expect(item.modified == 1_704_067_200 && item.strict == true)
            #expect(item.etag?.hasSuffix("\\1\"") == true)
            let redirect = try #require(item.redirect)
            #expect("\(CacheKey(try CacheURL(target)))".hasSuffix("-" + redirect))
            #expect(try await daemon.status(target, details: true).redirect == nil)
            let plain = try await daemon.status(origin.url("/plain.png"), details: true)
            #expect(plain.etag == nil && plain.modified == nil && plain.strict == nil)
            let without = try await daemon.status(origin.url("/a.png"))
            #expect(without.etag == nil && without.strict == nil && without.redirect == nil)
            // Members have the order of the interface description, in every run.
            let order = [
                "url", "key", "state", "path", "size", "mediaType", "width", "height", "sha256",
                "fetchedAt", "freshUntil", "lastUsedAt", "etag", "modified", "strict",
                "redirect", "pinned",
            ]
            for _ in 1...3 {
                let line = try await daemon.cachectl("info", "--json", origin.url("/a.png")).text
                let places = order.compactMap { line.firstRange(of: "\"\($0)\":")?.lowerBound }
                #expect(places.count == order.count && places == places.sorted())
            }
            let output = try await daemon.cachectl("info", origin.url("/a.png"))
            #expect(output.text.contains("strict") && output.text.contains(redirect))
        }
    }
}
