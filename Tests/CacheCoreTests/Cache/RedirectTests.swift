import CacheKey
import CacheValues
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Entries that were found through redirects, and redirects that change.
@Suite("Cache: redirects", .timeLimit(.minutes(5)))
struct RedirectTests {
    private let image = SampleImage.png(byteCount: 200_000)
    private let other = SampleImage.png(byteCount: 200_000, seed: 1)
    private let half = 100_000
    private let lasting: HeaderFields = ["Cache-Control": "max-age=1000", "ETag": "\"1\""]

    private func redirect(
        _ fixture: CacheFixture, _ status: Int = 302, to target: String = "/b.png",
        _ fields: HeaderFields = [:]
    ) {
        let place: HeaderFields = ["Location": target, "Content-Length": "0"]
        fixture.origin.route("/a.png", [.head(status, fields.withDefaults(place))])
    }

    private func requests(_ fixture: CacheFixture) -> [String] {
        fixture.origin.requests().map(\.target)
    }

    private func contents(_ fixture: CacheFixture) throws -> [UInt8] {
        try TestSupport.contents(of: fixture.file("/a.png"))
    }

    // MARK: Failures

    /// The redirect itself was valid.
    @Test func aTargetWithoutHTTPIsAProtocolErrorAndNoRedirectError() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            redirect(fixture)
            fixture.origin.route(
                "/b.png", [.bytes(Array("SSH-2.0-OpenSSH_9.2\r\n\r\n".utf8)), .close])
            #expect(
                try await fixture.fetch("/a.png").failures.values.map(\.kind) == [.protocolError])
            redirect(fixture, to: "ftp://127.0.0.1/b.png")
            #expect(try await fixture.fetch("/a.png").failures.values.map(\.kind) == [.redirect])
        }
    }

    /// The image was requested over TLS, so no network on the way may read or change it.
    @Test func aRedirectFromHTTPSToHTTPIsRefused() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let identity = try await authority.issue(for: ["IP:127.0.0.1"])
            let origin = try ScriptedOrigin(in: scope)
            let front = try await TLSTerminator(identity, to: origin, in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.certificateFile = authority.certificate
            }
            origin.route("/b.png", .answer(body: image))
            origin.route("/clear.png", .redirect(to: origin.url("/b.png")))
            origin.route("/start.png", .redirect(to: front.url("clear.png")))
            origin.route("/safe.png", .redirect(to: front.url("b.png")))
            let urls = [
                (front.url("clear.png"), false), (origin.url("/start.png"), false),
                (front.url("safe.png"), true), (origin.url("/safe.png"), true),
            ]
            for (url, isFetched) in urls {
                let imageRequest = ImageRequest(try CacheURL(url))
                let outcome = try await fixture.outcome(
                    of: fixture.cache.fetch([imageRequest], FetchOptions()))
                #expect(
                    outcome.failures[imageRequest.key]?.kind == (isFetched ? nil : .redirect),
                    "\(url)")
            }
            #expect(origin.requests("/b.png").count == 2)
        }
    }

    // MARK: Validators

    /// Both targets have the same validators, as two files with the same time can have.
    @Test func a304FromAnotherTargetDoesNotConfirmTheEntry() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            redirect(fixture)
            fixture.origin.route("/b.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            redirect(fixture, to: "/c.png")
            fixture.origin.route("/c.png") { request in
                request.headers["If-None-Match"] == nil
                    ? .answer(headers: lasting, body: other) : [.head(304, ["ETag": "\"1\""])]
            }
            let refresh = FetchOptions(isRefresh: true)
            #expect(try await fixture.fetch("/a.png", options: refresh).failures.isEmpty)
            #expect(try contents(fixture) == other)
            #expect(fixture.origin.requests("/c.png").count == 2)
        }
    }

    @Test func a304FromTheSameTargetConfirmsTheEntry() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            redirect(fixture)
            fixture.origin.route("/b.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            fixture.origin.route("/b.png", [.head(304, lasting)])
            let refresh = FetchOptions(isRefresh: true)
            for count in 1...2 {
                #expect(try await fixture.fetch("/a.png", options: refresh).failures.isEmpty)
                #expect(fixture.cache.statistics().revalidated == count)
            }
            #expect(try contents(fixture) == image)
        }
    }

    @Test func a304WithoutTheOldRedirectDoesNotConfirmTheEntry() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            redirect(fixture)
            fixture.origin.route("/b.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            fixture.origin.route("/a.png") { request in
                request.headers["If-None-Match"] == nil
                    ? .answer(headers: lasting, body: other) : [.head(304, [:])]
            }
            let refresh = FetchOptions(isRefresh: true)
            #expect(try await fixture.fetch("/a.png", options: refresh).failures.isEmpty)
            #expect(try contents(fixture) == other)
        }
    }

    // MARK: Partials

    @Test func aPartialIsResumedFromTheSameTarget() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            redirect(fixture)
            fixture.origin.route("/b.png", .cut(image, after: half, headers: ["ETag": "\"1\""]))
            #expect(try await !fixture.fetch("/a.png").failures.isEmpty)
            fixture.origin.route("/b.png") { .ranged(image, for: $0) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests("/b.png").map(\.firstOfRange) == [nil, half])
            #expect(try contents(fixture) == image)
        }
    }

    /// Otherwise the parts of two images would be put together.
    @Test func aPartialIsNotResumedFromAnotherTarget() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            redirect(fixture)
            fixture.origin.route("/b.png", .cut(image, after: half, headers: ["ETag": "\"1\""]))
            #expect(try await !fixture.fetch("/a.png").failures.isEmpty)
            redirect(fixture, to: "/c.png")
            fixture.origin.route("/c.png") { .ranged(other, for: $0) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests("/c.png").map(\.firstOfRange) == [half, nil])
            #expect(try contents(fixture) == other)
        }
    }

    // MARK: Freshness

    /// The target is fresh for long. The arguments are the status and fields of the redirect, and whether the entry
    /// is a hit.
    @Test(
        arguments: [
            (302, [:], false), (307, [:], false), (301, [:], true), (308, [:], true),
            (302, ["Cache-Control": "max-age=1000"], true),
            (301, ["Cache-Control": "no-cache"], false),
            (302, ["Cache-Control": "no-store"], false),
            (301, ["Cache-Control": "max-age=0"], false), (301, ["Vary": "*"], false),
        ] as [(Int, HeaderFields, Bool)])
    func freshnessOfTheRedirectCounts(status: Int, fields: HeaderFields, isHit: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            redirect(fixture, status, fields)
            fixture.origin.route("/b.png", .answer(headers: lasting, body: image))
            for _ in 1...2 { #expect(try await fixture.fetch("/a.png").failures.isEmpty) }
            let once = ["/a.png", "/b.png"]
            #expect(requests(fixture) == (isHit ? once : once + once))
        }
    }

    @Test func theFreshnessOfTheTargetCountsToo() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            redirect(fixture, 301, ["Cache-Control": "max-age=1000"])
            fixture.origin.route(
                "/b.png", .answer(headers: ["Cache-Control": "max-age=0"], body: image))
            for _ in 1...2 { #expect(try await fixture.fetch("/a.png").failures.isEmpty) }
            #expect(requests(fixture).count == 4)
        }
    }

    @Test func aSharedCacheDoesNotStoreAPrivateRedirect() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.caching.isShared = true }
            redirect(fixture, 301, ["Cache-Control": "private, max-age=1000"])
            fixture.origin.route("/b.png", .answer(headers: lasting, body: image))
            for _ in 1...2 { #expect(try await fixture.fetch("/a.png").failures.isEmpty) }
            #expect(requests(fixture).count == 4)
        }
    }

    // MARK: The way

    /// Scripts that forget to end after a redirect send a whole page behind it.
    @Test(arguments: [["Content-Length": "1000000000000"], ["Transfer-Encoding": "chunked"]])
    func theBodyOfARedirectIsNotRead(framing: HeaderFields) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/image.png", .answer(body: image))
            let fields = HeaderFields(framing.fields + [(name: "Location", value: "/image.png")])
            let isChunked = framing.fields.contains { $0.value == "chunked" }
            let zeros = [UInt8](repeating: 0x30, count: 1024)
            let piece = isChunked ? Array("400\r\n".utf8) + zeros + Array("\r\n".utf8) : zeros
            fixture.origin.route("/a.png", [.head(302, fields), .endless(piece)])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try TestSupport.contents(of: fixture.file("/a.png")) == image)
            try await fixture.origin.waitForOutcome(.abandoned, of: "/a.png")
            // A body that never comes is not waited for.
            fixture.origin.route("/c.png", [.head(302, fields), .wait(try Gate()), .close])
            #expect(try await fixture.fetch("/c.png").failures.isEmpty)
            // A short body keeps the connection usable.
            let short = HeaderFields([("Location", "/image.png"), ("Content-Length", "1024")])
            fixture.origin.route("/b.png", [.head(302, short), .bytes(zeros)])
            #expect(try await fixture.fetch("/b.png").failures.isEmpty)
            #expect(try TestSupport.contents(of: fixture.file("/b.png")) == image)
        }
    }

    /// Fetch standard, "HTTP-redirect fetch".
    @Test func twentyRedirectsAreFollowed() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            for hop in 0..<24 { fixture.origin.route("/\(hop)", .redirect(to: "/\(hop + 1)")) }
            fixture.origin.route("/24", .answer(body: image))
            #expect(try await fixture.fetch("/4").failures.isEmpty)
            let failures = try await fixture.fetch("/3").failures
            #expect(failures.values.map(\.kind) == [.redirect])
            #expect(fixture.origin.requests("/24").count == 1)
            #expect(fixture.origin.connectionsAccepted == 1)
        }
    }

    /// Each head may have almost 64 KiB.
    @Test func theLimitOfHeadsCountsForEachResponse() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let filler = (name: "X-Filler", value: String(repeating: "x", count: 60_000))
            let fields = HeaderFields([filler, ("Location", "/b.png"), ("Content-Length", "0")])
            fixture.origin.route("/a.png", [.head(302, fields)])
            fixture.origin.route(
                "/b.png", .answer(headers: HeaderFields([filler]), body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        }
    }

    /// RFC 9110 §6.5.1.
    @Test func trailersOfARedirectAreIgnored() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let redirect =
                "HTTP/1.1 302 Found\r\nLocation: /next.png\r\nCache-Control: max-age=60\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n"
                + "3\r\nbye\r\n0\r\nCache-Control: no-store\r\nVary: *\r\n\r\n"
            fixture.origin.route("/away.png", [.bytes(Array(redirect.utf8))])
            fixture.origin.route(
                "/next.png", .answer(headers: ["Cache-Control": "max-age=60"], body: image))
            for _ in 0..<2 {
                #expect(try await fixture.fetch("/away.png").failures.isEmpty)
            }
            #expect(fixture.origin.requests("/next.png").count == 1)
        }
    }
}
