import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

/// Slow origins and the rate limit, with short timeouts.
@Suite("Cache: slow origins", .timeLimit(.minutes(5)))
struct SlowOriginTests {
    private func fixture(
        in scope: TestScope, _ change: (inout TransferSettings) -> Void
    ) throws -> CacheFixture {
        try CacheFixture(in: scope) { change(&$0.transfers) }
    }

    /// All requests wait for the connection of the first, which could be shared.
    @Test func aSilentTLSServerTimesOutForAllDownloadsAtOnce() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.connectTimeout = 1 }
            let wishes = try (0..<8).map { number in
                ImageRequest(try CacheURL("https://127.0.0.1:\(fixture.origin.port)/\(number).png"))
            }
            let watch = Stopwatch()
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch(wishes, FetchOptions()))
            #expect(outcome.failures.values.map(\.kind) == Array(repeating: .timeout, count: 8))
            #expect(watch.time < .seconds(6), "one after the other it would be 8 s: \(watch.time)")
        }
    }

    /// Once, the requests waited for the connection one after the other.
    @Test func aSilentTargetOfARedirectTimesOutForAllDownloadsAtOnce() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let silent = try ScriptedOrigin(in: scope)
            let nginx = try await Nginx(
                serving: [:], tls: authority.issue(for: ["IP:127.0.0.1"]),
                extra: "return 302 https://127.0.0.1:\(silent.port)$request_uri;", in: scope)
            let fixture = try CacheFixture(in: scope, origin: silent) {
                $0.transfers.connectTimeout = 1
                $0.transfers.certificateFile = authority.certificate
            }
            let wishes = try (0..<8).map { ImageRequest(try CacheURL(nginx.url("\($0).png"))) }
            let watch = Stopwatch()
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch(wishes, FetchOptions()))
            #expect(outcome.failures.values.map(\.kind) == Array(repeating: .timeout, count: 8))
            #expect(watch.time < .seconds(6), "one after the other it would be 8 s: \(watch.time)")
        }
    }

    @Test func aStalledDownloadTimesOut() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope) {
                $0.stallTimeout = 1
                $0.firstByteTimeout = 1
            }
            let image = SampleImage.png(byteCount: 9000)
            let gate = try Gate()
            fixture.origin.route("/stalled.png", .gated(image, after: 4000, gate))
            fixture.origin.route("/silent.png", [.wait(gate), .close])
            fixture.origin.route("/dripping.png", .trickled(image, bytesPerSecond: 200))
            for path in ["/stalled.png", "/silent.png", "/dripping.png"] {
                let outcome = try await fixture.fetch(path)
                #expect(outcome.failures.values.map(\.kind) == [.timeout], "\(path)")
                try await fixture.origin.waitForOutcome(.abandoned, of: path)
            }
        }
    }

    /// An image that its server has to make first comes late, but without stalls.
    @Test func theFirstByteMayTakeLongerThanAStall() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope) { $0.stallTimeout = 1 }
            let image = SampleImage.png(byteCount: 9000)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n"
            // 41 bytes: 2 s or more, in which a body would count as stalled.
            fixture.origin.route(
                "/late.png", [.trickle(Array(head.utf8), bytesPerSecond: 20), .bytes(image)])
            let watch = Stopwatch()
            #expect(try await fixture.fetch("/late.png").failures.isEmpty)
            #expect(watch.time > .seconds(1.5))
            #expect(fixture.origin.requests().count == 1)
        }
    }

    @Test func aDownloadAboveTheStallLimitSucceeds() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope) { $0.stallTimeout = 1 }
            let image = SampleImage.png(byteCount: 9000)
            fixture.origin.route("/slow.png", .trickled(image, bytesPerSecond: 3000))
            let start = ContinuousClock.now
            #expect(try await fixture.fetch("/slow.png").failures.isEmpty)
            let time = ContinuousClock.now - start
            #expect(time > .seconds(2), "the download was not slow: \(time)")
        }
    }

    @Test func allDownloadsTogetherKeepToTheRateLimit() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope) {
                $0.maximumRate = 200_000
                $0.stallTimeout = 1
            }
            let names = (0..<8).map { "/\($0).png" }
            for name in names {
                fixture.origin.route(name, .answer(body: SampleImage.png(byteCount: 60_000)))
            }
            let wishes = try names.map { try fixture.wish($0) }
            let start = ContinuousClock.now
            let waiter = fixture.cache.fetch(wishes, FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            let time = ContinuousClock.now - start
            // 480 kB take 2.4 s, less the first content of the bucket and the debt of the last piece.
            #expect(time > .seconds(1.9) && time < .seconds(10), "8 images took \(time)")
        }
    }

    /// libcurl measures the speed of a download only from its last pause on.
    @Test func aTrickleTimesOutWhileTheRateLimitPausesDownloads() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope) {
                $0.maximumRate = 1_000_000
                $0.stallTimeout = 1
            }
            let names = (0..<3).map { "/\($0).png" }
            for name in names {
                fixture.origin.route(name, .answer(body: SampleImage.png(byteCount: 10_000_000)))
            }
            fixture.origin.route(
                "/a.png", .trickled(SampleImage.png(byteCount: 9000), bytesPerSecond: 4))
            let others = fixture.cache.fetch(
                try names.map { try fixture.wish($0) }, FetchOptions())
            try await waitUntil("all others to have begun") {
                fixture.cache.statistics().bytesReceived >= 3 * 60_000
            }
            let failures = try await fixture.fetch("/a.png").failures.values
            #expect(failures.map(\.kind) == [.timeout])
            #expect(fixture.cache.statistics().transfersRunning == 3)
            fixture.cache.leave(others)
        }
    }

    @Test func underTheRateLimitVisibleImagesComeBeforePrefetches() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope) { $0.maximumRate = 200_000 }
            // 1.2 MB: 6 s.
            let names = (0..<4).map { "/\($0).png" }
            for name in names {
                fixture.origin.route(name, .answer(body: SampleImage.png(byteCount: 300_000)))
            }
            fixture.origin.route("/row.png", .answer(body: SampleImage.png(byteCount: 60_000)))
            let prefetch = fixture.cache.fetch(
                try names.map { try fixture.wish($0) }, FetchOptions(priority: .background))
            try await waitUntil("all to have begun") {
                fixture.cache.statistics().bytesReceived >= 4 * 16_000
            }
            let before = fixture.cache.statistics().bytesReceived
            let row = fixture.cache.fetch(
                [try fixture.wish("/row.png")], FetchOptions(priority: .visible))
            #expect(try await fixture.outcome(of: row).failures.isEmpty)
            // If it took turns with the prefetches, 240 kB of them would arrive.
            let others = fixture.cache.statistics().bytesReceived - before - 60_000
            #expect(others < 60_000, "\(others) bytes of prefetches came first")
            fixture.cache.leave(prefetch)
        }
    }

    @Test func aPausedDownloadCanBeCancelled() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope) { $0.maximumRate = 1000 }
            fixture.origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 60_000)))
            fixture.origin.route("/b.png", .answer(body: SampleImage.png(byteCount: 60_000)))
            let waiter = fixture.cache.fetch(
                [try fixture.wish("/a.png"), try fixture.wish("/b.png")], FetchOptions())
            try await fixture.origin.waitForRequest("/b.png")
            fixture.cache.leave(waiter)
            try await waitUntil("both to be gone") {
                fixture.cache.statistics().transfersRunning == 0
            }
        }
    }
}
