import CacheValues
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Answers of real servers that browsers understand.
@Suite("Cache: answers of servers", .timeLimit(.minutes(5)))
struct ServerAnswerTests {
    private let image = SampleImage.png(byteCount: 9000)

    /// RFC 9110 §15.3.4, §15.3.7.
    @Test(
        arguments: [
            (203, [:], true), (206, ["Content-Range": "bytes 0-8999/9000"], true),
            (206, ["Content-Range": "bytes 0-8999/*"], false),
            (206, ["Content-Range": "bytes 0-8999/10000"], false), (206, [:], false),
            (201, [:], false), (404, [:], false), (500, [:], false),
        ] as [(Int, HeaderFields, Bool)])
    func onlyAWholeImageWithAStatusOfSuccessIsTaken(
        status: Int, fields: HeaderFields, isTaken: Bool
    ) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(status, headers: fields, body: image))
            let failures = try await fixture.fetch("/a.png").failures
            #expect(failures.values.map(\.httpStatus) == (isTaken ? [] : [status]))
            if isTaken { #expect(try contents(of: fixture.file("/a.png")) == image) }
        }
    }

    /// Log-in walls set a cookie and send the client back.
    @Test func cookiesOfAChainAreSentWithinItAndForgotten() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png") { [image] request in
                let location: HeaderFields = [
                    "Set-Cookie": "session=1; Path=/", "Location": "/a.png", "Content-Length": "0",
                ]
                return request.headers["Cookie"] == nil
                    ? [.head(302, location)] : .answer(body: image)
            }
            fixture.origin.route("/b.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(
                fixture.origin.requests("/a.png").map { $0.headers["Cookie"] } == [
                    nil, "session=1",
                ])
            #expect(try await fixture.fetch("/b.png").failures.isEmpty)
            #expect(fixture.origin.requests("/b.png").map { $0.headers["Cookie"] } == [nil])
        }
    }

    @Test func cookiesAreNotSentToAnotherHost() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let other = try ScriptedOrigin(beside: fixture.origin, in: scope)
            let target = other.url("/b.png", host: "127.0.0.2")
            let fields: HeaderFields = [
                "Set-Cookie": "session=1; Path=/", "Location": target, "Content-Length": "0",
            ]
            fixture.origin.route("/a.png", [.head(302, fields)])
            other.route("/b.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(other.requests().map { $0.headers["Cookie"] } == [nil])
        }
    }

    /// The percent-encode sets of the WHATWG URL standard. The key stays that of the given bytes.
    @Test(arguments: [
        ("/a b.png", "/a%20b.png"), ("/{a}|^`\"<>.png", "/%7Ba%7D%7C%5E%60%22%3C%3E.png"),
        ("/it's.png?it's", "/it's.png?it%27s"), ("/ä.png", "/%C3%A4.png"),
        ("/a%20b.png?c=%7B", "/a%20b.png?c=%7B"), ("/a.png?{b} c", "/a.png?%7Bb%7D%20c"),
    ])
    func theRequestLineIsEncodedAsBrowsersDo(path: String, target: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route(target, .answer(body: image))
            #expect(try await fixture.fetch(path).failures.isEmpty)
            #expect(fixture.origin.requests().map(\.target) == [target])
            #expect(try contents(of: fixture.file(path)) == image)
        }
    }

    /// Signed URLs are long. ext4 has no room for such a URL among the attributes of a file.
    @Test func aURLOf8192BytesIsFetched() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let length = 8192 - fixture.origin.url("/a.png?").utf8.count
            let path = "/a.png?" + String(repeating: "x", count: length)
            fixture.origin.route("/a.png", .answer(headers: ["ETag": "\"1\""], body: image))
            #expect(try await fixture.fetch(path).failures.isEmpty)
            #expect(try contents(of: fixture.file(path)) == image)
            let key = try fixture.imageRequest(path).key
            let url = fixture.cache.details(of: key).url
            #expect(url == nil || url == fixture.origin.url(path))
            // The validators are worth more than half a URL.
            #expect(fixture.cache.directory.entryRecord(of: key)?.validators.entityTag == "\"1\"")
            #expect(await fixture.verify().damaged.isEmpty)
        }
    }

    /// Small images whose server sends head and body in two writes, as Python's and a Ceph gateway do. Without an
    /// acknowledgement each would take 40 ms.
    @Test func aServerThatHoldsTheBodyBackIsAcknowledged() async throws {
        try await withTestScope { scope in
            let plain = try await timeOf300(at: try ScriptedOrigin(in: scope), scope)
            // This kind of origin does not set TCP_NODELAY.
            let held = try await timeOf300(
                at: try ScriptedOrigin(everywhere: true, in: scope), scope)
            // 300 times 40 ms are 12 s.
            #expect(
                held < plain + .seconds(6), "\(plain) without Nagle's algorithm, \(held) with it")
        }
    }

    private func timeOf300(
        at origin: ScriptedOrigin, _ scope: TestScope
    ) async throws -> Duration {
        let fixture = try CacheFixture(in: scope, origin: origin) {
            $0.transfers.transfersPerHost = 1
        }
        let image = SampleImage.png(byteCount: 2000)
        let names = (0..<300).map { "/\($0).png" }
        for name in names {
            fixture.origin.route(name, [.head(200, ["Content-Length": "2000"]), .bytes(image)])
        }
        let watch = Stopwatch()
        let waiter = fixture.cache.fetch(
            try names.map { try fixture.imageRequest($0) }, FetchOptions())
        #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
        #expect(fixture.origin.connectionsAccepted == 1)
        return watch.time
    }

    /// Servers send a page with status 200 while they have an outage, and portals do so before a login.
    @Test(arguments: [
        OriginScript.answer(
            headers: ["Content-Type": "text/html; charset=utf-8"], body: Array("<p>Log in".utf8)),
        .answer(),
        // The label does not matter.
        .answer(body: Array("<!DOCTYPE html><title>Log in</title>".utf8)),
        .answer(body: Array("<?xml version='1.0'?><Error><Code>SlowDown</Code></Error>".utf8)),
        .answer(body: Array(#"{"error": "try again later", "status": 503}"#.utf8)),
        .answer(body: Array("Service temporarily unavailable".utf8)),
        .answer(
            body: [0xFF, 0xFE] + "Später".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }),
        .chunked(Array(repeating: UInt8(ascii: "a"), count: 5000)),
    ])
    func aPageInPlaceOfAnImageIsForgottenSoonAndLetsAStaleEntryServe(page: OriginScript)
        async throws
    {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.retry = RetryPolicy() }
            fixture.origin.route("/new.png", page)
            let start = UnixTime.now
            let failure = try #require(try await fixture.fetch("/new.png").failures.values.first)
            #expect(failure.kind == .notAnImage)
            let pause = try #require(failure.retryAt) - start
            #expect(10...61 ~= pause)
            fixture.origin.route(
                "/old.png", .answer(headers: ["Cache-Control": "max-age=0"], body: image))
            #expect(try await fixture.fetch("/old.png").failures.isEmpty)
            fixture.origin.route("/old.png", page)
            for _ in 0..<2 { #expect(try await fixture.fetch("/old.png").failures.isEmpty) }
            #expect(fixture.origin.requests("/old.png").count == 2)
        }
    }

    /// Bytes of another kind count as the resource of the URL.
    @Test func otherBytesAreRememberedLonger() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.retry = RetryPolicy() }
            fixture.origin.route("/a.png", .answer(body: Array("PK".utf8) + Array(0..<200)))
            let start = UnixTime.now
            let failure = try #require(try await fixture.fetch("/a.png").failures.values.first)
            #expect(failure.kind == .notAnImage)
            #expect(try #require(failure.retryAt) - start >= 300)
        }
    }

    @Test func aRefusalSaysThatTheHostMayWantAContact() async throws {
        try await withTestScope { scope in
            for hasContact in [false, true] {
                let fixture = try CacheFixture(in: scope) { $0.transfers.hasContact = hasContact }
                fixture.origin.route("/a.png", .answer(403))
                let failure = try #require(try await fixture.fetch("/a.png").failures.values.first)
                #expect(failure.message.contains("CACHED_CONTACT") != hasContact)
                #expect(failure.httpStatus == 403)
            }
        }
    }
}
