import CacheWire
import TestSupport
import Testing

/// `Fetch` with `more`: the known state at once, then changes, and finally all items.
@Suite("Streams", .serialized, .timeLimit(.minutes(5)))
struct StreamTests {
    private let more = [#""more":true"#]

    @Test func aStreamBeginsAtOnceAndEndsWithAllItems() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .answer(body: SampleImage.png()))
            origin.route("/b.png", .gated(SampleImage.png(byteCount: 9000), after: 3000, gate))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(a).state == .cached)
            let stream = try daemon.connect()
            let first = try await stream.ask(call("Fetch", [a, b, "nonsense"], flags: more))
            #expect(first.continues == true)
            #expect(first.items.map(\.url) == [a, b, "nonsense"])
            #expect(first.items.map(\.state) == [.cached, .inFlight, .missing])
            #expect(first.items.last?.failure?.kind == "invalidURL")

            // The first reply can include the received bytes already.
            if first.items[1].received != 3000 {
                let change = try await stream.nextReply()
                #expect(change.continues == true)
                #expect(change.items.map(\.url) == [b])
            }
            gate.open()
            let last = try await stream.lastReply()
            #expect(last.items.map(\.url) == [a, b, "nonsense"])
            #expect(last.items.map(\.state) == [.cached, .cached, .missing])
        }
    }

    @Test func aStreamOfDecidedImagesIsAnsweredOnce() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(url).state == .cached)
            let stream = try daemon.connect()
            let only = try await stream.ask(call("Fetch", [url, "nonsense"], flags: more))
            #expect(only.continues == nil)
            #expect(only.items.map(\.state) == [.cached, .missing])
            #expect(try await stream.ask(call("Status", [url])).items.map(\.state) == [.cached])
        }
    }

    @Test func theNextCallEndsTheStreamWithItsLastReply() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 90_000), after: 3000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: more) + "\0")
            _ = try await stream.nextItem { $0.received == 3000 }
            try await stream.send(call("org.varlink.service.GetInfo") + "\0")
            let last = try await stream.lastReply()
            #expect(last.items.map(\.url) == [url])
            #expect(try await stream.nextReply().parameters?.product == "cached")
            // The call has ended, and so has its interest in the download.
            try await origin.waitForOutcome(.abandoned, of: "/a.png")
            #expect(try await daemon.status(url).state == .missing)
        }
    }

    @Test func aNewStreamReplacesTheSetAndKeepsSharedDownloads() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let names = ["a", "b", "c"]
            for name in names {
                origin.route(
                    "/\(name).png", .gated(SampleImage.png(byteCount: 90_000), after: 3000, gate))
            }
            let urls = names.map { origin.url("/\($0).png") }
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [urls[0], urls[1]], flags: more) + "\0")
            try await gate.reached(count: 2)
            try await stream.send(call("Fetch", [urls[1], urls[2]], flags: more) + "\0")
            #expect(try await stream.lastReply().items.map(\.url) == [urls[0], urls[1]])
            let first = try await stream.nextReply()
            #expect(first.continues == true)
            #expect(first.items.map(\.url) == [urls[1], urls[2]])
            // A URL that is only in the old set stops; the others continue.
            try await origin.waitForOutcome(.abandoned, of: "/a.png")
            try await origin.waitForRequest("/c.png")
            gate.open()
            let last = try await stream.lastReply()
            #expect(last.items.map(\.state) == [.cached, .cached])
            for name in ["/a.png", "/b.png", "/c.png"] {
                #expect(origin.requests(name).count == 1)
            }
        }
    }

    /// A revalidation made for one stream also counts for the stream that replaces it.
    @Test func aNewStreamReusesTheOldStreamsRevalidation() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            let fields: HeaderFields = ["Cache-Control": "no-cache", "ETag": "\"1\""]
            origin.route("/a.png") { request in
                request.headers["If-None-Match"] == nil
                    ? .answer(headers: fields, body: image) : [.head(304, fields)]
            }
            origin.route("/b.png", .gated(image, after: 3000, gate))
            let urls = [origin.url("/a.png"), origin.url("/b.png")]
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(urls[0]).state == .cached)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", urls, flags: more) + "\0")
            try await gate.reached()
            try await waitUntil("the image to be confirmed") {
                try await daemon.metric("revalidated") == 1
            }
            for _ in 1...2 {
                try await stream.send(call("Fetch", urls, flags: more) + "\0")
                #expect(try await stream.lastReply().items.first?.state == .cached)
            }
            gate.open()
            #expect(try await stream.lastReply().items.map(\.state) == [.cached, .cached])
            #expect(origin.requests("/a.png").count == 2)
        }
    }

    /// Images in both sets are not fetched again, even if they must not be reused for other callers.
    @Test(arguments: ["no-store", "max-age=0"], [1, 1500])
    func aNewStreamReusesTheOldStreamsImages(control: String, copies: Int) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            origin.route("/a.png", .answer(headers: ["Cache-Control": control], body: image))
            origin.route("/b.png", .gated(image, after: 3000, gate))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let urls = Array(repeating: a, count: copies) + [b]
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", urls, flags: more) + "\0")
            try await gate.reached()
            try await daemon.waitForState(.cached, of: a)
            for _ in 1...2 {
                try await stream.send(call("Fetch", urls, flags: more) + "\0")
                #expect(try await stream.lastReply().items.first?.state == .cached)
            }
            gate.open()
            #expect(try await stream.lastReply().items.first?.state == .cached)
            #expect(origin.requests("/a.png").count == 1)
            #expect(origin.requests("/b.png").count == 1)
            // For any other caller the image must be fetched again.
            #expect(try await daemon.fetch(a).state == .cached)
            #expect(origin.requests("/a.png").count == 2)
        }
    }

    @Test func aCallAfterAFetchWithoutMoreWaitsForIt() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 3000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            try await connection.send(call("Fetch", [url]) + "\0" + call("Status", [url]) + "\0")
            try await gate.reached()
            gate.open()
            for _ in 0..<2 {
                #expect(try await connection.nextReply().items.map(\.state) == [.cached])
            }
        }
    }

    @Test func aDigestMismatchFailsOnlyTheCallerThatAskedForIt() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 3000)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let wrong = #""sha256":"\#(String(repeating: "0", count: 64))""#
            let refused = try await daemon.ask(call("Fetch", [url], parameters: wrong))
            #expect(refused.items.first?.state == .missing)
            #expect(refused.items.first?.failure?.kind == "digestMismatch")
            let right = #""sha256":"\#(try await sha256(image))""#
            let taken = try await daemon.ask(call("Fetch", [url], parameters: right))
            #expect(taken.items.first?.state == .cached)
        }
    }

    /// The mismatched bytes are never reported as cached, not even briefly, however many URLs there are.
    @Test(arguments: [1, 1500])
    func aStreamNeverReportsAMismatchedDigestAsCached(copies: Int) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 3000)
            origin.route("/there.png", .answer(body: image))
            origin.route("/late.png", .answer(body: image))
            origin.route("/last.png", .gated(image, after: 100, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(origin.url("/there.png")).state == .cached)
            let connection = try daemon.connect()
            let wrong = #""sha256":"\#(String(repeating: "0", count: 64))""#
            let there = Array(repeating: origin.url("/there.png"), count: copies)
            let urls = there + [origin.url("/late.png"), origin.url("/last.png")]
            let stream = call("Fetch", urls, parameters: wrong, flags: more) + "\0"
            // The second stream ends the first, which sends its last reply.
            try await connection.send(stream + stream)
            try await gate.reached()
            try await daemon.waitForState(.cached, of: origin.url("/late.png"))
            gate.open()
            var replies = 0
            for _ in 1...2 {
                var last: [Item] = []
                var isLast = false
                while !isLast {
                    let answer = try await connection.nextReply()
                    last = answer.items
                    isLast = answer.continues != true
                    replies += 1
                    #expect(last.allSatisfy { $0.state != .cached && $0.path == nil })
                }
                #expect(last.count == urls.count)
                #expect(last.prefix(copies).allSatisfy { $0.failure?.kind == "digestMismatch" })
            }
            // The second stream is decided when it begins, so it may have its last reply only.
            #expect(replies >= 3)
        }
    }
}
