import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

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
            let imageRequests = try (0..<8).map { number in
                ImageRequest(try CacheURL("https://127.0.0.1:\(fixture.origin.port)/\(number).png"))
            }
            let watch = Stopwatch()
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch(imageRequests, FetchOptions()))
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
            let imageRequests = try (0..<8).map {
                ImageRequest(try CacheURL(nginx.url("\($0).png")))
            }
            let watch = Stopwatch()
            let outcome = try await fixture.outcome(
                of: fixture.cache.fetch(imageRequests, FetchOptions()))
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

    enum Phase: CaseIterable {
        case connection, handshake, tunnel, head, restOfHead, body, failureBody, restOfBody,
            redirect
    }

    /// However libcurl counts, each phase of a download ends by the clock of the thread that owns it.
    @Test(arguments: Phase.allCases)
    func everyPhaseEndsWithinItsLimit(phase: Phase) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                ($0.transfers.connectTimeout, $0.transfers.firstByteTimeout) = (1, 1)
                $0.transfers.stallTimeout = 1
                // Slots for all.
                $0.transfers.transfersPerHost = 12
                guard phase == .tunnel else { return }
                $0.transfers.proxy = ProxyChoice(origin.url(""))
                $0.transfers.resolutions = ["images.test:443:127.0.0.1"]
            }
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            var url = fixture.origin.url("/a.png")
            switch phase {
            case .connection:
                _ = try SilentPort(host: 3, port: fixture.origin.port, in: scope)
                url = fixture.origin.url("/a.png", host: "127.0.0.3")
            case .handshake: url = "https://127.0.0.1:\(fixture.origin.port)/a.png"
            case .tunnel:
                url = "https://images.test/a.png"
                fixture.origin.route("images.test:443", [.wait(gate)])
            case .head: fixture.origin.route("/a.png", [.wait(gate)])
            case .restOfHead:
                fixture.origin.route(
                    "/a.png", [.bytes(Array("HTTP/1.1 200 OK\r\n".utf8)), .wait(gate)])
            case .body: fixture.origin.route("/a.png", .gated(image, after: 4000, gate))
            case .failureBody:
                fixture.origin.route(
                    "/a.png", [.head(404, ["Content-Length": "900"]), .bytes([1]), .wait(gate)])
            case .restOfBody:
                for number in 0..<12 {
                    try fixture.leavePartial("/a.png?\(number)", image[..<4000], of: 9000)
                }
                let range = "bytes 4000-8999/9000"
                fixture.origin.route(
                    "/a.png",
                    [
                        .head(206, ["Content-Range": range, "ETag": "\"1\""]),
                        .bytes(Array(image[4000..<6000])), .wait(gate),
                    ])
            case .redirect:
                fixture.origin.route("/a.png", .redirect(to: "/b.png"))
                fixture.origin.route("/b.png", .gated(image, after: 4000, gate))
            }
            let imageRequests = try (0..<12).map { ImageRequest(try CacheURL("\(url)?\($0)")) }
            let watch = Stopwatch()
            let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
            let failures = try await fixture.outcome(of: waiter).failures.values
            #expect(failures.count == 12)
            // A failure's status counts however its body ends.
            #expect(failures.allSatisfy { $0.kind == (phase == .failureBody ? .http : .timeout) })
            // libcurl's own measure of speed would take two seconds or more.
            let limit = [.connection, .tunnel].contains(phase) ? 2.4 : 1.9
            #expect(watch.time < .seconds(limit), "\(watch.time)")
        }
    }

    /// A host's first address is often one of IPv6 that leads nowhere.
    @Test func anAddressThatTakesNoConnectionDelaysOnlyTheFirstImages() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let port = origin.port
            _ = try SilentPort(host: 3, port: port, in: scope)
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.transfers.connectTimeout = 2
                $0.transfers.resolutions = ["images.test:\(port):127.0.0.3,127.0.0.1"]
            }
            func fetch(_ name: String) async throws -> Duration {
                // The connection is not kept.
                fixture.origin.route(
                    name,
                    OriginScript(OriginScript.answer(body: SampleImage.png()).steps + [.close]))
                let imageRequest = ImageRequest(try CacheURL("http://images.test:\(port)\(name)"))
                let watch = Stopwatch()
                let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
                #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
                return watch.time
            }
            #expect(try await fetch("/a.png") >= .seconds(0.9))
            for name in ["/b.png", "/c.png"] { #expect(try await fetch(name) < .seconds(0.8)) }
            // If the other address fails, the first one is tried again.
            try await origin.stop()
            let watch = Stopwatch()
            let imageRequest = ImageRequest(try CacheURL("http://images.test:\(port)/d.png"))
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.count == 1)
            #expect(watch.time >= .seconds(0.9), "\(watch.time)")
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
            let imageRequests = try names.map { try fixture.imageRequest($0) }
            let start = ContinuousClock.now
            let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
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
                try names.map { try fixture.imageRequest($0) }, FetchOptions())
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
                try names.map { try fixture.imageRequest($0) }, FetchOptions(priority: .background))
            try await waitUntil("all to have begun") {
                fixture.cache.statistics().bytesReceived >= 4 * 16_000
            }
            let before = fixture.cache.statistics().bytesReceived
            let row = fixture.cache.fetch(
                [try fixture.imageRequest("/row.png")], FetchOptions(priority: .visible))
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
                [try fixture.imageRequest("/a.png"), try fixture.imageRequest("/b.png")],
                FetchOptions())
            try await fixture.origin.waitForRequest("/b.png")
            fixture.cache.leave(waiter)
            try await waitUntil("both to be gone") {
                fixture.cache.statistics().transfersRunning == 0
            }
        }
    }
}
