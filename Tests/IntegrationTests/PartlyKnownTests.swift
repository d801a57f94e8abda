import CacheWire
import TestSupport
import Testing

/// The members of an item before the image is cached: its shape, and how much has arrived.
@Suite("Partly known images", .timeLimit(.minutes(5)))
struct PartlyKnownTests {
    private let more = [#""more":true"#]

    @Test func aDownloadTellsTheShapeAsSoonAsTheBytesDo() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let (start, end) = (try Gate(), try Gate())
            // The pixels begin within the second part: before them, a PNG can still be turned.
            let image = SampleImage.png(width: 300, height: 250, byteCount: 90_000)
            origin.route(
                "/a.png",
                [
                    .head(200, ["Content-Length": "\(image.count)"]), .bytes(Array(image[..<4])),
                    .wait(start), .bytes(Array(image[4..<70_000])), .wait(end),
                    .bytes(Array(image[70_000...])),
                ])
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: more) + "\0")
            let unknown = try await stream.nextItem { $0.phase == .receiving }
            #expect(unknown.mediaType == nil && unknown.width == nil)
            start.open()
            let known = try await stream.nextItem { $0.width != nil }
            #expect(known.state == .inFlight && known.mediaType == "image/png")
            let asked = try await daemon.status(url)
            end.open()
            let last = try #require(try await stream.lastReply().items.first)
            #expect(last.width != nil && last.state == .cached)
            #expect((known.width, known.height) == (last.width, last.height))
            #expect((asked.width, asked.height) == (last.width, last.height))
        }
    }

    @Test func anInterruptedDownloadTellsHowMuchIsThere() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 300_000)
            origin.route(
                "/a.png",
                [
                    .head(200, ["Content-Length": "300000", "ETag": "\"1\""]),
                    .bytes(Array(image[..<150_000])), .wait(gate), .bytes(Array(image[150_000...])),
                ])
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.status(url).received == nil)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: more) + "\0")
            _ = try await stream.nextItem { $0.received == 150_000 }
            stream.shutdown()
            try await daemon.waitForState(.missing, of: url)
            for details in [false, true] {
                let item = try await daemon.status(url, details: details)
                #expect(item.state == .missing && item.phase == nil)
                #expect((item.received, item.total, item.percent) == (150_000, 300_000, 50))
            }
            // Another daemon may continue it, a damaged note may not.
            let next = try await daemon.replace(afterCrash: true)
            #expect(try await next.status(url).received == 150_000)
            try ExtendedAttributes(of: try daemon.path(url) + ".part").set(
                "user.cached.partial", "x")
            let item = try await next.status(url)
            #expect(item.received == nil && item.total == nil)
        }
    }

    @Test func aPauseBeforeARetryTellsItsReasonInTheStream() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(503, headers: ["Retry-After": "1"], body: []))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(
                environment: ["CACHED_ATTEMPTS": "2"], in: scope)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: more) + "\0")
            let pausing = try await stream.nextItem { $0.failure != nil }
            #expect(pausing.state == .inFlight && pausing.failure?.httpStatus == 503)
            #expect(pausing.failure?.retryAt != nil)
        }
    }
}
