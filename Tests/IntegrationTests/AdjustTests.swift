import CacheKey
import CacheWire
import TestSupport
import Testing

/// `Fetch` with `wants`, `Adjust` and `follow`: the set of a list that is being scrolled.
@Suite("Sets that change", .timeLimit(.minutes(5)))
struct AdjustTests {
    private let more = [#""more":true"#]

    /// `{"url":…,"priority":…}`
    private func want(_ url: String, _ priority: String? = nil) -> String {
        #"{"url":\#(quoted(url))"# + (priority.map { #","priority":"\#($0)""# } ?? "") + "}"
    }

    private func wants(_ list: [String]) -> String { #""wants":[\#(list.joined(separator: ","))]"# }

    private func adjust(
        add: [String] = [], drop: [String] = [], flags: [String] = [#""oneway":true"#]
    ) -> String {
        call(
            "Adjust",
            parameters: #""add":[\#(add.joined(separator: ","))]"#,
            #""drop":[\#(drop.map(quoted).joined(separator: ","))]"#, flags: flags) + "\0"
    }

    @Test func onlyWhatIsNewIsAnsweredAndWhatIsDroppedStops() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            for name in ["a", "b", "c"] {
                origin.route(
                    "/\(name).png", .gated(SampleImage.png(byteCount: 90_000), after: 3000, gate))
            }
            let (a, b, c) = (origin.url("/a.png"), origin.url("/b.png"), origin.url("/c.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            let first = try await stream.ask(
                call("Fetch", [a], parameters: wants([want(b, "background")]), flags: more))
            #expect(first.items.map(\.url) == [a, b] && first.continues == true)
            try await gate.reached(count: 2)
            try await stream.send(adjust(add: [want(c, "visible"), want("nonsense")], drop: [a]))
            var answer = try await stream.nextReply()
            while answer.items.first?.url != c { answer = try await stream.nextReply() }
            #expect(answer.items.map(\.url) == [c, "nonsense"] && answer.continues == true)
            #expect(answer.items.last?.failure?.kind == "invalidURL")
            try await origin.waitForOutcome(.abandoned, of: "/a.png")
            try await gate.reached(count: 3)
            #expect(try await daemon.status(b).state == .inFlight)
            gate.open()
            // Dropped images are in no reply after the change, and not in the last one.
            let last = try await stream.lastReply()
            #expect(last.items.map(\.url) == [b, c])
            #expect(last.items.map(\.state) == [.cached, .cached])
            #expect(origin.requests("/b.png").count == 1)
        }
    }

    /// Progress is gathered for 100 ms; an image is told as soon as it is here.
    @Test func anEndIsToldWithoutDelay() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let urls = (0..<25).map { origin.url("/\($0).png") }
            for number in 0..<25 {
                origin.route(
                    "/\(number).png", .answer(body: SampleImage.png(byteCount: 9000, seed: number)))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let clock = ContinuousClock()
            var shortest = Duration.seconds(1)
            for url in urls {
                let stream = try daemon.connect()
                let began = clock.now
                let fetch = call(
                    "Fetch", [], parameters: wants([want(url)]), #""follow":true"#, flags: more)
                var reply = try await stream.ask(fetch)
                while reply.items.first?.state != .cached { reply = try await stream.nextReply() }
                shortest = min(shortest, clock.now - began)
            }
            #expect(shortest < .milliseconds(60))
        }
    }

    @Test func aRowThatBecomesVisibleKeepsItsDownload() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 90_000), after: 3000, gate))
            let a = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            _ = try await stream.ask(
                call("Fetch", parameters: wants([want(a, "background")]), flags: more))
            try await gate.reached()
            for priority in ["visible", "normal", "background", "visible", "visible"] {
                try await stream.send(adjust(add: [want(a, priority)]))
            }
            // Dropped and added in one call: the place in the set is a new one, the download is another.
            try await waitUntil("the first bytes") { try await daemon.status(a).received == 3000 }
            gate.open()
            let last = try await stream.lastReply()
            #expect(last.items.map(\.state) == [.cached])
            #expect(origin.requests("/a.png").count == 1)
            #expect(try await daemon.metric("transfersQueued") == 0)
        }
    }

    @Test func theHigherOfTwoPrioritiesCounts() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            for name in ["block", "low", "twice"] {
                origin.route("/\(name).png", .gated(image, after: 100, gate))
            }
            let daemon = try await DaemonFixture.start(["--max-transfers", "1"], in: scope)
            let blocker = try daemon.connect()
            try await blocker.send(
                call("Fetch", [origin.url("/block.png")], parameters: #""priority":"visible""#)
                    + "\0")
            try await gate.reached()
            let (low, twice) = (origin.url("/low.png"), origin.url("/twice.png"))
            let stream = try daemon.connect()
            let list = [want(low, "normal"), want(twice, "background"), want(twice, "visible")]
            let first = try await stream.ask(call("Fetch", parameters: wants(list), flags: more))
            #expect(first.items.map(\.url) == [low, twice, twice])
            gate.open()
            let last = try await stream.lastReply()
            #expect(last.items.map(\.state) == [.cached, .cached, .cached])
            let order = origin.requests().map(\.path)
            #expect(order == ["/block.png", "/twice.png", "/low.png"])
        }
    }

    @Test func aStreamThatFollowsTellsWhatComesLater() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            origin.route("/a.png", .answer(body: image))
            origin.route("/b.png", .answer(body: image))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            try await stream.send(
                call("Fetch", [a], parameters: #""follow":true"#, flags: more) + "\0")
            _ = try await stream.nextItem { $0.state == .cached }
            // A removed image is reported, and not fetched again.
            _ = try await daemon.ask(call("Remove", [a]))
            #expect(try await stream.nextItem { $0.state == .missing }.url == a)
            try await stream.send(adjust(add: [want(b)]))
            #expect(try await stream.nextItem { $0.url == b && $0.state == .cached }.url == b)
            _ = try await daemon.ask(call("Fetch", [b], parameters: #""refresh":true"#))
            _ = try await stream.nextItem { $0.url == b && $0.phase == nil }
            _ = try await daemon.ask(call("Evict", parameters: #""toBytes":0"#))
            #expect(try await stream.nextItem { $0.state == .missing }.url == b)
            #expect(origin.requests("/a.png").count == 1)
            // Another call ends it with all items.
            try await stream.send(call("org.varlink.service.GetInfo") + "\0")
            #expect(try await stream.lastReply().items.map(\.url) == [a, b])
            #expect(try await stream.nextReply().parameters?.product == "cached")
        }
    }

    @Test(arguments: [true, false])
    func aStreamThatFollowsFetchesAgainWhatFailedForAReasonThatPasses(
        wasRemembered: Bool
    ) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(500, headers: ["Retry-After": "1"], body: []))
            origin.route("/gone.png", .answer(404, body: []))
            let (a, gone) = (origin.url("/a.png"), origin.url("/gone.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            if wasRemembered { _ = try await daemon.ask(call("Fetch", [a, gone])) }
            let stream = try daemon.connect()
            try await stream.send(
                call("Fetch", [a, gone], parameters: #""follow":true"#, flags: more) + "\0")
            let failed = try await stream.nextItem { $0.url == a && $0.failure?.httpStatus == 500 }
            #expect(failed.failure?.retryAt != nil)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            // The failure is reported once.
            let next = try await stream.nextItem { $0.url == a }
            #expect(next.state != .missing)
            _ =
                next.state == .cached
                ? next : try await stream.nextItem { $0.url == a && $0.state == .cached }
            #expect(origin.requests("/gone.png").count == 1)
        }
    }

    @Test func adjustWithMoreTakesTheStreamOver() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 100, gate))
            origin.route("/b.png", .answer(body: SampleImage.png()))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            _ = try await stream.ask(call("Fetch", [a], flags: more))
            try await gate.reached()
            try await stream.send(adjust(add: [want(b)], flags: more))
            #expect(try await stream.lastReply().items == [])
            let taken = try await stream.nextItem { $0.url == b }
            #expect(taken.url == b)
            gate.open()
            let last = try await stream.lastReply()
            #expect(last.items.map(\.url) == [a, b])
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test func adjustWithoutAStreamIsAnError() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 100, gate))
            let a = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            try await connection.send(adjust(add: [want(a)], flags: more))
            #expect(try await connection.nextReply().error == "io.cached.Cache.NoStream")
            // Oneway nothing can be said, and nothing is fetched.
            try await connection.send(adjust(add: [want(a)]))
            #expect(try await connection.ask(call("Status", [a])).items.first?.state == .missing)
            // A Watch is not a Fetch.
            _ = try await connection.ask(call("Watch", [a], flags: more))
            try await connection.send(adjust(add: [want(a)], flags: more))
            #expect(try await connection.nextReply().continues == nil)
            #expect(try await connection.nextReply().error == "io.cached.Cache.NoStream")
            // Neither oneway nor more: the reply could not come in order.
            _ = try await connection.ask(call("Fetch", [a], flags: more))
            try await connection.send(adjust(flags: []))
            #expect(try await connection.lastReply().items.map(\.url) == [a])
            let refusal = try await connection.nextReply()
            #expect(refusal.error == "org.varlink.service.ExpectedMore")
        }
    }

    @Test func clientsOfBothKindsShareADownload() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 90_000), after: 3000, gate))
            let a = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let (old, new, watcher) = (
                try daemon.connect(), try daemon.connect(), try daemon.connect()
            )
            _ = try await watcher.ask(call("Watch", [a], flags: more))
            #expect(try await old.ask(call("Fetch", [a], flags: more)).items.map(\.url) == [a])
            let follow = #""follow":true"#
            _ = try await new.ask(
                call("Fetch", parameters: wants([want(a, "background")]), follow, flags: more))
            try await gate.reached()
            try await new.send(adjust(add: [want(a, "visible")]))
            // Each can leave the other alone with the download.
            try await old.send(call("Status", [a]) + "\0")
            #expect(try await old.lastReply().items.map(\.state) == [.inFlight])
            #expect(try await old.nextReply().items.map(\.state) == [.inFlight])
            _ = try await old.ask(call("Fetch", [a], flags: more))
            try await new.send(adjust(drop: [a]))
            gate.open()
            #expect(try await old.lastReply().items.map(\.state) == [.cached])
            #expect(try await watcher.nextItem { $0.state == .cached }.url == a)
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test(arguments: [
        ("Fetch", #""priority":"normal""#, "urls"),
        ("Fetch", #""urls":[],"follow":true"#, "follow"),
        ("Fetch", #""wants":[{"priority":"normal"}]"#, "wants"),
        ("Fetch", #""wants":[{"url":"u","priorty":"normal"}]"#, "wants"),
        ("Fetch", #""wants":[{"url":"u","priority":"high"}]"#, "wants"),
        ("Adjust", #""remove":[]"#, "remove"), ("Adjust", #""add":["u"]"#, "add"),
    ])
    func aWrongSetIsNamed(method: String, parameters: String, name: String) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let reply = try await daemon.ask(call(method, parameters: parameters))
            #expect(reply.error == "org.varlink.service.InvalidParameter")
            #expect(reply.parameters?.parameter == name && reply.reason != nil)
        }
    }

    @Test func veryManyWantsAreAnsweredAndMoreAreRefused() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 100, gate))
            let a = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let many = (0..<200_000).map { want("x\($0)", ["visible", "background"][$0 % 2]) }
            let connection = try daemon.connect()
            let reply = try await connection.ask(call("Fetch", parameters: wants(many)))
            #expect(reply.items.count == 200_000)
            let tooMany = try await connection.ask(
                call("Fetch", [a], parameters: wants(many)))
            #expect(tooMany.error == "io.cached.Cache.TooMany")
            #expect(tooMany.parameters?.limit == 200_000)
            // The same in a stream, which continues, and other clients are answered.
            _ = try await connection.ask(call("Fetch", [a], flags: more))
            try await gate.reached()
            try await connection.send(adjust(add: many))
            #expect(try await daemon.status(a).state == .inFlight)
            gate.open()
            let last = try await connection.lastReply(within: .seconds(60))
            #expect(last.items.map(\.state) == [.cached])
        }
    }

    /// After random changes, the last reply has exactly the images of the final set.
    @Test(arguments: [1, 2, 3])
    func randomChangesLeaveTheSetThatTheyAddUpTo(seed: Int) async throws {
        try await withTestScope { scope in
            var random = SeededGenerator(seed: UInt64(seed))
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let urls = (0..<40).map { origin.url("/\($0).png") }
            for number in 0..<40 {
                origin.route(
                    "/\(number).png",
                    .gated(SampleImage.png(byteCount: 3000 + number), after: 100, gate))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            var expected: Set<String> = [urls[0]]
            _ = try await stream.ask(call("Fetch", [urls[0]], flags: more))
            for _ in 0..<200 {
                let added = urls.shuffled(using: &random).prefix(
                    Int.random(in: 0...3, using: &random))
                let dropped = urls[1...].shuffled(using: &random).prefix(2)
                expected.subtract(dropped)
                expected.formUnion(added)
                let priority = ["background", "normal", "visible"].randomElement(using: &random)
                try await stream.send(
                    adjust(add: added.map { want($0, priority) }, drop: Array(dropped)))
            }
            // Once this is answered, all changes before it are made.
            try await stream.send(adjust(add: [want("marker")]))
            _ = try await stream.nextItem { $0.url == "marker" }
            gate.open()
            let last = try await stream.lastReply()
            #expect(Set(last.items.map(\.url)) == expected)
            #expect(last.items.allSatisfy { $0.state == .cached })
            #expect(try await daemon.metric("transfersRunning") == 0)
            #expect(try await daemon.metric("transfersQueued") == 0)
        }
    }
}
