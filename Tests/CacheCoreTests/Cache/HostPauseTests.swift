import CacheKey
import CacheValues
import Synchronization
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Hosts that say when to ask again (RFC 6585 §4, RFC 9110 §10.2.3).
@Suite("Cache: paused hosts", .timeLimit(.minutes(5)))
struct HostPauseTests {
    private let image = SampleImage.png(byteCount: 5000)

    /// The host grants ten requests a second and says so.
    @Test func everyImageOfALimitedHostIsFetchedWithFewRefusals() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.retry = RetryPolicy() }
            let window = GrantWindow(grants: 10, per: .seconds(1))
            let names = (0..<60).map { "/\($0).png" }
            for name in names {
                fixture.origin.route(name) { [image] _ in
                    window.grant()
                        ? .answer(body: image) : .answer(429, headers: ["Retry-After": "1"])
                }
            }
            let waiter = fixture.cache.fetch(
                try names.map { try fixture.imageRequest($0) }, FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(window.refusals <= 20, "\(window.refusals) refusals")
        }
    }

    @Test func nothingIsAskedOfAPausedHostAndTheOthersGoOn() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) {
                $0.retry = RetryPolicy()
                $0.transfers.transfersPerHost = 1
            }
            let other = try ScriptedOrigin(beside: fixture.origin, in: scope)
            other.route("/c.png", .answer(body: image))
            fixture.origin.route("/a.png", .answer(503, headers: ["Retry-After": "200"]))
            fixture.origin.route("/b.png", .answer(body: image))
            let waiter = fixture.cache.fetch(
                [try fixture.imageRequest("/a.png"), try fixture.imageRequest("/b.png")],
                FetchOptions())
            try await fixture.lookup("/a.png") { $0.failure?.httpStatus == 503 }
            for path in ["/a.png", "/b.png"] {
                let progress = try #require(try fixture.lookup(path).progress)
                #expect(progress.phase == .queued)
                #expect(progress.failure?.httpStatus == 503)
                #expect(try #require(progress.failure?.retryAt) > UnixTime.now + 190)
            }
            let elsewhere = ImageRequest(
                try CacheURL(other.url("/c.png", host: "127.0.0.2")))
            let second = fixture.cache.fetch([elsewhere], FetchOptions())
            #expect(try await fixture.outcome(of: second).failures.isEmpty)
            #expect(fixture.origin.requests().count == 1)
            #expect(fixture.cache.statistics().transfersRunning == 0)
            fixture.cache.leave(waiter)
        }
    }

    /// A network that the machine has just joined may permit what the former one did not.
    @Test func aChangeOfTheNetworkEndsThePausesAndTheMemoryOfItsFailures() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.retry = RetryPolicy() }
            fixture.origin.route("/a.png") { [image, origin = fixture.origin] _ in
                origin.requests("/a.png").count < 2
                    ? .answer(503, headers: ["Retry-After": "200"]) : .answer(body: image)
            }
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.failure?.httpStatus == 503 }
            fixture.cache.networkChanged()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            fixture.origin.route("/b.png", .answer(headers: ["Content-Type": "text/html"]))
            #expect(try await !fixture.fetch("/b.png").failures.isEmpty)
            fixture.origin.route("/b.png", .answer(body: image))
            #expect(try await !fixture.fetch("/b.png").failures.isEmpty)
            fixture.cache.networkChanged()
            #expect(try await fixture.fetch("/b.png").failures.isEmpty)
        }
    }
}

/// Counts requests by windows of time, as rate limiters of web servers do.
private final class GrantWindow: Sendable {
    private struct State {
        var end = ContinuousClock.now
        var left = 0
        var refusals = 0
    }

    private let grants: Int
    private let length: Duration
    private let state = Mutex(State())

    init(grants: Int, per length: Duration) {
        (self.grants, self.length) = (grants, length)
    }

    var refusals: Int { state.withLock(\.refusals) }

    func grant() -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            if state.end <= now { (state.end, state.left) = (now + length, grants) }
            state.left -= 1
            if state.left < 0 { state.refusals += 1 }
            return state.left >= 0
        }
    }
}
