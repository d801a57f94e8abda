import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Downloads that fail and are retried, and failures that are remembered.
@Suite("Cache: retries", .timeLimit(.minutes(5)))
struct CacheRetryTests {
    let image = SampleImage.png(byteCount: 20_000)

    /// A cache with short pauses.
    private func fixture(
        in scope: TestScope, remembersFailures: Bool = false
    ) throws -> CacheFixture {
        try CacheFixture(in: scope) {
            $0.retry = RetryPolicy()
            $0.retry.firstPause = .milliseconds(10)
            $0.retry.remembersFailures = remembersFailures
        }
    }

    /// Answers with failures before this request, counted from 1.
    private func fail(
        _ fixture: CacheFixture, until number: Int, _ script: OriginScript = .answer(503)
    ) {
        let image = image
        fixture.origin.route("/a.png") { [origin = fixture.origin] _ in
            origin.requests("/a.png").count < number ? script : .answer(body: image)
        }
    }

    @Test(arguments: [
        OriginScript.answer(503), .answer(408, headers: ["Connection": "close"]), .answer(429),
        .cut(SampleImage.png(byteCount: 9000), after: 500), [.reset],
    ])
    func retriesTransientFailures(script: OriginScript) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fail(fixture, until: 4, script)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().count == 4)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(fixture.cache.statistics().retried == 3)
        }
    }

    /// RFC 9110 §15.5.9. The fixture has one attempt.
    @Test func a408OnAKeptConnectionIsNoAnswer() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let image = image
            for path in ["/a.png", "/b.png"] {
                fixture.origin.route(path) { [origin = fixture.origin] request in
                    let isFirst =
                        origin.requests().filter { $0.connection == request.connection }.count == 1
                    return isFirst
                        ? .answer(body: image) : .answer(408, headers: ["Connection": "close"])
                }
                #expect(try await fixture.fetch(path).failures.isEmpty)
            }
            #expect(fixture.origin.requests().count == 3)
            #expect(fixture.origin.connectionsAccepted == 2)
            fixture.origin.route("/c.png", .answer(408))
            #expect(try await fixture.fetch("/c.png").failures.values.map(\.httpStatus) == [408])
            #expect(fixture.origin.requests("/c.png").count == 2)
        }
    }

    @Test func reportsTheFourthFailureOnceToEveryWaiter() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", [.wait(gate), .head(503, ["Content-Length": "0"])])
            let imageRequest = try fixture.imageRequest("/a.png")
            let waiters = (0..<20).map { _ in fixture.cache.fetch([imageRequest], FetchOptions()) }
            gate.open()
            for waiter in waiters {
                let failures = try await fixture.outcome(of: waiter).failures
                #expect(failures.mapValues(\.httpStatus) == [imageRequest.key: 503])
            }
            #expect(fixture.origin.requests().count == 4)
            #expect(fixture.cache.statistics().failed == 1)
        }
    }

    @Test(arguments: [
        (OriginScript.answer(404), Failure.Kind.http), (.answer(403), .http),
        (.answer(body: Array("<html>".utf8)), .notAnImage),
        (.redirect(to: "http://10.255.255.1/a.png"), .addressRefused),
    ])
    func doesNotRetryFinalFailures(script: OriginScript, kind: Failure.Kind) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", script)
            #expect(try await fixture.fetch("/a.png").failures.values.first?.kind == kind)
            #expect(fixture.origin.requests().count == 1)
        }
    }

    @Test func doesNotRetryAnImageThatCannotBeVerified() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) {
                $0.retry = RetryPolicy()
                $0.transfers.acceptsAnything = true
            }
            fixture.origin.route("/a.txt", .closeDelimited(Array("no end mark".utf8)))
            let failures = try await fixture.fetch("/a.txt").failures
            #expect(failures.values.first?.kind == .unverifiable)
            #expect(fixture.origin.requests().count == 1)
        }
    }

    @Test func honorsRetryAfter() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fail(fixture, until: 2, .answer(503, headers: ["Retry-After": "1"]))
            let start = ContinuousClock.now
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(ContinuousClock.now - start >= .seconds(1))
        }
    }

    @Test func aPauseDelaysNoOtherDownload() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) {
                $0.retry = RetryPolicy()
                $0.retry.firstPause = .seconds(300)
                $0.transfers.transferLimit = 1
            }
            fixture.origin.route("/a.png", .answer(503))
            fixture.origin.route("/b.png", .answer(body: image))
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            #expect(try await fixture.fetch("/b.png").failures.isEmpty)
            try await fixture.lookup("/a.png") { $0.progress?.phase == .retrying }
            #expect(try fixture.lookup("/a.png").failure?.httpStatus == 503)
            #expect(try fixture.lookup("/a.png").failure?.retryAt != nil)
            #expect(fixture.cache.statistics().transfersRunning == 0)
            fixture.cache.leave(waiter)
            #expect(try fixture.lookup("/a.png").failure?.httpStatus == 503)
        }
    }

    @Test func returnsARememberedFailureUntilARefresh() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope, remembersFailures: true)
            let headers: HeaderFields = ["Cache-Control": "max-age=300"]
            fixture.origin.route("/a.png", .answer(404, headers: headers))
            let start = UnixTime.now
            for _ in 0..<3 {
                let failure = try await fixture.fetch("/a.png").failures.values.first
                #expect(failure?.httpStatus == 404)
                #expect(failure?.retryAt.map { $0 >= start + 300 } == true)
            }
            #expect(try fixture.lookup("/a.png").failure?.retryAt != nil)
            #expect(fixture.origin.requests().count == 1)
            #expect(fixture.cache.statistics().failuresRepeated == 2)
            fixture.origin.route("/a.png", .answer(body: image))
            let options = FetchOptions(isRefresh: true)
            #expect(try await fixture.fetch("/a.png", options: options).failures.isEmpty)
            #expect(try fixture.lookup("/a.png").failure == nil)
        }
    }

    @Test func honorsTheCachingFieldsOfARefusal() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope, remembersFailures: true)
            fixture.origin.route(
                "/a.png", .answer(404, headers: ["Cache-Control": "max-age=0"]))
            _ = try await fixture.fetch("/a.png")
            _ = try await fixture.fetch("/a.png")
            #expect(fixture.origin.requests().count == 2)
        }
    }
}
