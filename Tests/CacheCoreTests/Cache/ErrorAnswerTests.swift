import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// An error status counts whether or not its body arrives.
@Suite("Cache: error answers", .timeLimit(.minutes(5)))
struct ErrorAnswerTests {
    /// A response whose body breaks off.
    private func cut(_ status: Int, _ fields: HeaderFields = [:]) -> OriginScript {
        [.head(status, fields.withDefaults(["Content-Length": "500"])), .bytes([1, 2, 3]), .close]
    }

    private func failure(_ fixture: CacheFixture) async throws -> Failure? {
        let key = try fixture.imageRequest("/a.png").key
        return try await fixture.fetch("/a.png").failures[key]
    }

    @Test(arguments: [404, 410, 403, 503])
    func anErrorWithABrokenBodyIsThatError(status: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", cut(status))
            let failure = try #require(try await failure(fixture))
            #expect(failure.kind == .http)
            #expect(failure.httpStatus == status)
        }
    }

    @Test func anErrorWithAStalledBodyIsThatError() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.stallTimeout = 1 }
            let gate = try Gate()
            fixture.origin.route(
                "/a.png", [.head(404, ["Content-Length": "500"]), .bytes([1]), .wait(gate)])
            #expect(try await failure(fixture)?.httpStatus == 404)
            gate.open()
        }
    }

    @Test func a404RemovesTheEntry() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route(
                "/a.png",
                .answer(
                    headers: ["Cache-Control": "max-age=0", "ETag": "\"1\""],
                    body: SampleImage.png(byteCount: 5000)))
            #expect(try await failure(fixture) == nil)
            fixture.origin.route("/a.png", cut(404))
            #expect(try await failure(fixture)?.httpStatus == 404)
            guard case .missing = try fixture.lookup("/a.png") else {
                Issue.record("the entry is still there")
                return
            }
        }
    }

    @Test func retryAfterCountsEvenIfTheBodyBreaksOff() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.retry.remembersFailures = true }
            fixture.origin.route("/a.png", cut(503, ["Retry-After": "250"]))
            let start = UnixTime.now
            let retryAt = try #require(try await failure(fixture)?.retryAt)
            #expect(retryAt - start >= 250)
        }
    }

    /// The empty response is about another image, so the old partial is useless.
    @Test func anEmptyResponseRemovesThePartial() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            try fixture.leavePartial(
                "/a.png", SampleImage.png(byteCount: 200_000)[..<100_000], of: 200_000)
            fixture.origin.route("/a.png", .answer(headers: ["ETag": "\"2\""], body: []))
            #expect(try await failure(fixture)?.kind == .notAnImage)
            #expect(try !fixture.hasPartial("/a.png"))
        }
    }

    @Test func anEmptyContentEncodingIsNoEncoding() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route(
                "/a.png",
                .answer(
                    headers: ["Content-Encoding": ""], body: SampleImage.png(byteCount: 5000)))
            #expect(try await failure(fixture) == nil)
        }
    }

    @Test func aVeryLongHeaderLineIsRefused() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let line = String(repeating: "x", count: 150_000)
            fixture.origin.route("/a.png", .answer(headers: ["X-Long": line]))
            let failure = try #require(try await failure(fixture))
            #expect(failure.kind == .protocolError)
            #expect(failure.message.contains("64 KiB of headers"))
        }
    }
}
