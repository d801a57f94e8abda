import CacheWire
import TestSupport
import Testing

/// Replies for stale images, and for downloads that fail.
@Suite("Reuse", .serialized, .timeLimit(.minutes(5)))
struct ReuseTests {
    let image = SampleImage.png(byteCount: 5000)
    let stale: HeaderFields = ["Cache-Control": "max-age=0", "ETag": "\"1\""]

    @Test func aStaleImageIsReturnedAndItsFailedRefreshIsReported() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(headers: stale, body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(url).state == .cached)
            origin.route("/a.png", .answer(503))
            let answer = try await daemon.fetch(url)
            #expect(answer.state == .cached)
            #expect(answer.failure == nil)
            #expect(try await daemon.status(url).failure?.httpStatus == 503)
            #expect(try await daemon.cachectl("fetch", url).status == .success)
            #expect(try await daemon.cachectl("fetch", "--refresh", url).status == .exited(1))
            #expect(try contents(of: daemon.path(url)) == image)
            origin.route("/a.png", [.head(304, ["Cache-Control": "max-age=1000"])])
            // The failure is remembered, but a refresh asks all the same.
            #expect(try await daemon.cachectl("fetch", "--refresh", url).status == .success)
            #expect(try await daemon.status(url).failure == nil)
            #expect(try await daemon.metric("revalidated") == 1)
            #expect(try await daemon.metric("staleAnswers") == 2)
        }
    }

    @Test func aLocationInANotModifiedResponseIsNotFollowed() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let url = origin.url("/a.png")
            origin.route("/a.png", .answer(headers: stale, body: image))
            origin.route("/b.png", .answer(body: SampleImage.png(byteCount: 6000)))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(url).state == .cached)
            origin.route("/a.png", [.head(304, ["Location": "/b.png"])])
            #expect(try await daemon.cachectl("fetch", "--refresh", url).status == .success)
            #expect(try await daemon.metric("revalidated") == 1)
            #expect(try contents(of: daemon.path(url)) == image)
            // The next transfer follows redirects again.
            origin.route("/c.png", .answer(302, headers: ["Location": "/b.png"]))
            #expect(try await daemon.fetch(origin.url("/c.png")).state == .cached)
            #expect(origin.requests("/b.png").count == 1)
        }
    }

    @Test func aDownloadWaitingForARetryReportsIt() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(500, headers: ["Retry-After": "300"]))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(["--attempts", "2"], in: scope)
            let waiting = try daemon.connect()
            try await waiting.send(call("Fetch", [url]) + "\0")
            let item = try await eventually("a pause before a retry") {
                let item = try await daemon.status(url)
                return item.phase == .retrying ? item : nil
            }
            #expect(item.state == .inFlight)
            #expect(item.failure?.httpStatus == 500)
            #expect(item.failure?.retryAt != nil)
        }
    }

    /// A fetch whose output goes to a file shows no progress.
    @Test func aFetchInAPipeSaysWhenItTriesAgainAndWhy() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = image
            origin.route("/a.png") { _ in
                origin.requests("/a.png").count < 2
                    ? .answer(429, headers: ["Retry-After": "5"]) : .answer(body: image)
            }
            origin.route("/b.png", .answer(404))
            let daemon = try await DaemonFixture.start(["--attempts", "2"], in: scope)
            let output = try await daemon.cachectl(
                "fetch", origin.url("/a.png"), origin.url("/b.png"))
            #expect(output.lines == [try daemon.path(origin.url("/a.png"))])
            // Each line is written when it happens.
            let lines = output.errorText.split(separator: "\n").map(String.init).sorted()
            #expect(lines.count == 2, "\(lines)")
            let form = try Regex(
                "cachectl: .*/a.png: the server answered with status 429; .*the next attempt is in [2-4] s"
            )
            #expect(lines.first?.wholeMatch(of: form) != nil, "\(lines)")
            #expect(lines.last?.contains("/b.png: the server answered with status 404") == true)
        }
    }

    @Test func aFailureIsRememberedUntilARefresh() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            for _ in 0..<2 {
                let item = try await daemon.fetch(url)
                #expect(item.failure?.httpStatus == 404)
                #expect(item.failure?.retryAt != nil)
            }
            #expect(origin.requests().count == 1)
            origin.route("/a.png", .answer(body: image))
            #expect(try await daemon.cachectl("fetch", "--refresh", url).status == .success)
        }
    }
}
