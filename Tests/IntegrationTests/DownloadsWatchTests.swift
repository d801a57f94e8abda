import CacheWire
import TestSupport
import Testing

/// `Watch` with `downloads`: each download is reported when it is requested, starts and ends.
@Suite("Watching downloads", .serialized, .timeLimit(.minutes(5)))
struct DownloadsWatchTests {
    private let watch = call("Watch", parameters: #""downloads":true"#, flags: [#""more":true"#])

    @Test func startAndEndAreReportedAndNoProgressBetween() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 90_000)
            let gates = try [Gate(), Gate()]
            origin.route("/old.png", .answer(body: image))
            origin.route(
                "/a.png",
                [
                    .head(200, ["Content-Length": "90000", "Content-Type": "image/png"]),
                    .bytes(Array(image[..<1000])), .wait(gates[0]),
                    .trickle(Array(image[1000...]), bytesPerSecond: 200_000),
                ])
            origin.route("/b.png", .gated(image, after: 1000, gates[1]))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(origin.url("/old.png")).state == .cached)
            try await daemon.cachectl("fetch", "--no-wait", a)
            try await gates[0].reached()

            let stream = try daemon.connect()
            let first = try await stream.ask(watch)
            #expect(first.continues == true)
            #expect(first.items.map(\.url) == [a] && first.items[0].state == .inFlight)
            try await daemon.cachectl("fetch", "--no-wait", b)
            try await gates[1].reached()
            gates[0].open()
            var reported: [Item] = []
            while reported.last(where: { $0.url == a })?.state != .cached {
                reported += try await stream.nextReply().items
            }
            // Half a second of progress that is not reported.
            #expect(reported.count { $0.url == a && $0.state == .inFlight } <= 1)
            #expect(reported.contains { $0.url == b && $0.state == .inFlight })
            gates[1].open()
            let last = try await stream.nextItem { $0.state == .cached }
            #expect(last.url == b)
        }
    }

    @Test func refreshingACachedImageIsReportedAsADownload() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 90_000)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let path = try #require(try await daemon.fetch(url).path)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 45_000, gate))
            let stream = try daemon.connect()
            #expect(try await stream.ask(watch).items.isEmpty)
            try await daemon.cachectl("fetch", "--no-wait", "--refresh", url)
            let first = try await stream.nextItem { $0.phase != nil }
            #expect(first.state == .cached && first.path == path)
            // Other callers see the progress of the new version and the path of the old one.
            let item = try await eventually("half of it to be received") {
                let item = try await daemon.status(url)
                return item.received == 45_000 ? item : nil
            }
            #expect(item.state == .cached && item.phase == .receiving && item.percent == 50)
            #expect(item.path == path && item.size == 90_000)
            gate.open()
            let last = try await stream.nextItem { $0.phase == nil }
            #expect(last.state == .cached && last.path == path && last.failure == nil)
            #expect(try await daemon.status(url).phase == nil)
        }
    }

    @Test func aFailedRefreshIsReportedHoweverFast() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(["--attempts", "1"], in: scope)
            #expect(try await daemon.fetch(url).state == .cached)
            origin.route("/a.png", .answer(503))
            let stream = try daemon.connect()
            #expect(try await stream.ask(watch).items.isEmpty)
            try await daemon.cachectl("fetch", "--no-wait", "--refresh", url)
            let last = try await stream.nextItem { $0.phase == nil }
            #expect(last.state == .cached && last.failure?.httpStatus == 503)
        }
    }

    @Test func aFailedDownloadIsReportedHoweverFast() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            #expect(try await stream.ask(watch).items.isEmpty)
            let url = origin.url("/missing.png")
            try await daemon.cachectl("fetch", url)
            let answer = try await stream.nextItem { $0.failure != nil }
            #expect(answer.url == url)
        }
    }

    @Test func urlsAndDownloadsCannotBeCombined() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            let answer = try await stream.ask(
                call(
                    "Watch", ["http://a/1"], parameters: #""downloads":true"#,
                    flags: [#""more":true"#]))
            #expect(answer.parameters?.parameter == "downloads")
        }
    }
}
