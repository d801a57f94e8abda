import CacheWire
import TestSupport
import Testing

/// The order of downloads: visible images wait for no others, and no client waits for another's backlog.
@Suite("Fairness", .serialized, .timeLimit(.minutes(5)))
struct FairnessTests {
    private let more = [#""more":true"#]

    /// Every slot is taken by downloads that stop at a gate, and more of them are queued.
    private struct Backlog {
        let daemon: DaemonFixture
        let origins: [ScriptedOrigin]
        let gate: Gate
        let slots: Int
        private var overtaken = 0

        init(_ daemon: DaemonFixture, _ origins: [ScriptedOrigin], _ gate: Gate, slots: Int)
            async throws
        {
            (self.daemon, self.origins, self.gate, self.slots) = (daemon, origins, gate, slots)
            try await gate.reached(count: slots)
        }

        /// A new client's image is the next request of its origin. One download gives way to it, and then the slot
        /// is used again.
        mutating func isOvertaken(
            by target: String, _ priority: String, at origin: ScriptedOrigin
        ) async throws {
            let earlier = origin.requests().count
            let message = call(
                "Fetch", [origin.url(target)], parameters: #""priority":"\#(priority)""#)
            #expect(try await daemon.ask(message).items.map(\.state) == [.cached])
            #expect(origin.requests()[earlier].target == target)
            overtaken += 1
            let stopped = origins.flatMap { $0.requests() }.count { $0.outcome == .abandoned }
            #expect(stopped <= overtaken, "\(stopped) downloads ended for \(overtaken) images")
            try await gate.reached(count: slots + overtaken)
        }
    }

    @Test func visibleImagesDoNotWaitBehindPrefetches() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            // Enough hosts to fill every slot, and more downloads waiting.
            let origins = try (0..<16).map { _ in try ScriptedOrigin(in: scope) }
            let names = (0..<8).map { "/\($0).png" }
            for origin in origins {
                for name in names { origin.route(name, .gated(image, after: 100, gate)) }
                origin.route("/visible.png", .answer(body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let prefetcher = try daemon.connect()
            let prefetches = origins.flatMap { origin in names.map { origin.url($0) } }
            try await prefetcher.send(
                call("Fetch", prefetches, parameters: #""priority":"background""#) + "\0")
            var backlog = try await Backlog(daemon, origins, gate, slots: 64)
            #expect(try await daemon.metric("transfersRunning") == 64)
            for origin in [origins[0], origins[15]] {
                try await backlog.isOvertaken(by: "/visible.png", "visible", at: origin)
            }
            gate.open()
            #expect(try await prefetcher.nextReply().items.allSatisfy { $0.state == .cached })
        }
    }

    @Test func visibleImagesPreemptPrefetchesWhichResumeLater() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            let large = SampleImage.png(byteCount: 400_000)
            let prefetches = (0..<5).map { "/prefetch\($0).png" }
            for name in prefetches {
                origin.route(name) { request in
                    request.headers["Range"] == nil
                        ? .gated(large, after: 300_000, gate, headers: ["ETag": "\"1\""])
                        : .ranged(large, for: request)
                }
            }
            let rows = (0..<12).map { "/row\($0).png" }
            let visibleGate = try Gate()
            let small = SampleImage.png(byteCount: 5000)
            for name in rows { origin.route(name, .gated(small, after: 100, visibleGate)) }
            let daemon = try await DaemonFixture.start(in: scope)
            let prefetcher = try daemon.connect()
            let wanted = prefetches.map { origin.url($0) }
            try await prefetcher.send(
                call("Fetch", wanted, parameters: #""priority":"background""#) + "\0")
            try await waitUntil("the prefetches to have received 300,000 bytes") {
                let items = try await daemon.ask(call("Status", wanted)).items
                return items.allSatisfy { $0.received == 300_000 }
            }
            let list = try daemon.connect()
            try await list.send(
                call(
                    "Fetch", rows.map { origin.url($0) }, parameters: #""priority":"visible""#)
                    + "\0")
            // Only one slot of the origin is free; the five prefetches give way.
            try await visibleGate.reached(count: 6)
            visibleGate.open()
            #expect(try await list.nextReply().items.allSatisfy { $0.state == .cached })
            gate.open()
            #expect(try await prefetcher.nextReply().items.allSatisfy { $0.state == .cached })
            let again = prefetches.flatMap { origin.requests($0).dropFirst() }
            #expect(again.count == 5)
            for request in again { #expect(request.headers["Range"] == "bytes=300000-") }
        }
    }

    /// Behind a content delivery network many sites have one address.
    @Test func aSiteThatSaysStopPausesNoneOfItsNeighbours() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/evil.png", .answer(429, headers: ["Retry-After": "3600"]))
            origin.route("/good.png", .answer(body: SampleImage.png(byteCount: 9000)))
            let daemon = try await DaemonFixture.start(["--attempts", "4"], in: scope)
            let greedy = try daemon.connect()
            let evil = origin.url("/evil.png", host: "evil.localhost")
            try await greedy.send(call("Fetch", [evil], flags: more) + "\0")
            try await waitUntil("the site to be paused") {
                try await greedy.nextReply().items.first?.failure?.retryAt != nil
            }
            let good = origin.url("/good.png", host: "good.localhost")
            let neighbour = try daemon.connect()
            #expect(try await neighbour.ask(call("Fetch", [good])).items.map(\.state) == [.cached])
            // The site itself is asked nothing more.
            let again = origin.url("/good.png", host: "evil.localhost")
            try await neighbour.send(call("Fetch", [again], flags: more) + "\0")
            let reply = try await neighbour.nextReply()
            #expect(reply.items.first?.phase == .queued)
            #expect(origin.requests().count == 2)
        }
    }

    /// As many sites at one address as there are slots have a download each at once.
    @Test func sitesAtOneAddressDoNotWaitForEachOther() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 100, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = (0..<24).map { origin.url("/a.png", host: "site\($0).localhost") }
            let client = try daemon.connect()
            try await client.send(call("Fetch", urls) + "\0")
            try await gate.reached(count: 24)
            gate.open()
            #expect(try await client.nextReply().items.allSatisfy { $0.state == .cached })
        }
    }

    @Test func oneClientsBacklogDoesNotDelayAnothersImage() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            // 40 ms each.
            let image = SampleImage.png(byteCount: 2000)
            origin.route("/a.png", .trickled(image, bytesPerSecond: 50_000))
            let daemon = try await DaemonFixture.start(in: scope)
            let greedy = try daemon.connect()
            let urls = (0..<2000).map { origin.url("/a.png?\($0)") }
            try await greedy.send(call("Fetch", urls, flags: more) + "\0")
            #expect(try await greedy.nextReply().items.count == urls.count)
            let other = try daemon.connect()
            try await other.send(call("Fetch", [origin.url("/a.png?mine")], flags: more) + "\0")
            // The answer comes when the image has its place in the queue.
            let first = try await other.nextReply()
            let earlier = origin.requests().count
            let last = first.continues == true ? try await other.lastReply() : first
            #expect(last.items.map(\.state) == [.cached])
            // Those that the origin had slots for can be on their way, and no others.
            let place = try #require(
                origin.requests().firstIndex { $0.target == "/a.png?mine" })
            #expect(place <= earlier + 6)
            greedy.shutdown()
            try await waitUntil("the backlog to be gone") {
                try await daemon.metric("transfersQueued") == 0
            }
        }
    }

    @Test func oneClientsBacklogOnSlowHostsDoesNotDelayAnothersImage() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            // These hosts answer only when the gate opens.
            let origins = try (0..<16).map { _ in try ScriptedOrigin(in: scope) }
            for origin in origins {
                origin.route("/slow.png", .gated(image, after: 100, gate))
                origin.route("/a.png", .answer(body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let greedy = try daemon.connect()
            let urls = (0..<2000).map { origins[$0 % 16].url("/slow.png?\($0)") }
            try await greedy.send(call("Fetch", urls, flags: more) + "\0")
            var backlog = try await Backlog(daemon, origins, gate, slots: 64)
            for origin in [origins[0], origins[15]] {
                try await backlog.isOvertaken(by: "/a.png", "normal", at: origin)
            }
            greedy.shutdown()
            try await waitUntil("the backlog to be gone") {
                try await daemon.metric("transfersQueued") == 0
            }
            gate.open()
        }
    }

    /// Even if the whole backlog is more urgent.
    @Test func oneClientsVisibleBacklogGivesASlotOfItsOriginToOthers() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/slow.png", .gated(image, after: 100, gate))
            origin.route("/a.png", .answer(body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            let greedy = try daemon.connect()
            let urls = (0..<100).map { origin.url("/slow.png?\($0)") }
            try await greedy.send(
                call("Fetch", urls, parameters: #""priority":"visible""#) + "\0")
            var backlog = try await Backlog(daemon, [origin], gate, slots: 6)
            for priority in ["normal", "visible"] {
                try await backlog.isOvertaken(by: "/a.png?\(priority)", priority, at: origin)
            }
            greedy.shutdown()
            gate.open()
        }
    }

    @Test func statusIsAnsweredWhileManyDownloadsAreQueued() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", [.wait(gate), .close])
            let daemon = try await DaemonFixture.start(in: scope)
            let asking = try daemon.connect()
            let greedy = try daemon.connect()
            let urls = (0..<50_000).map { origin.url("/a.png?\($0)") }
            try await greedy.send(call("Fetch", urls, flags: more) + "\0")
            // An unoptimised program needs seconds for the whole call.
            var slowest = Duration.zero
            try await waitUntil("all to be queued") {
                let watch = Stopwatch()
                _ = try await asking.ask(call("Status", [urls[0]]))
                slowest = max(slowest, watch.time)
                return try await asking.ask(call("Status", [urls[49_999]])).items.first?.state
                    == .inFlight
            }
            #expect(slowest < .milliseconds(500), "a status answer took \(slowest)")
            #expect(try await greedy.nextReply().items.count == urls.count)
        }
    }

    // MARK: Replacing a set

    @Test func replacingASetFetchesNothingTwice() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 90_000)
            let names = (0..<8).map { "/\($0).png" }
            for name in names { origin.route(name, .gated(image, after: 30_000, gate)) }
            let urls = names.map { origin.url($0) }
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            // One call for each scroll step: it drops a row above and has a new one below.
            for first in 0..<4 {
                let rows = Array(urls[first..<(first + 4)])
                try await stream.send(
                    call("Fetch", rows, parameters: #""priority":"visible""#, flags: more) + "\0")
                try await origin.waitForRequest(names[first + 3])
                if first > 0 { try await origin.waitForOutcome(.abandoned, of: names[first - 1]) }
            }
            for name in names[3..<7] {
                #expect(origin.requests(name).map(\.outcome) == [.answering], "\(name)")
            }
            gate.open()
            try await waitUntil("the last set to be cached") {
                let items = try await daemon.ask(call("Status", Array(urls[3..<7]))).items
                return items.allSatisfy { $0.state == .cached }
            }
            // A kept image is requested once, from its beginning; a dropped one once and in part.
            for name in names[..<7] {
                #expect(origin.requests(name).count == 1)
                #expect(origin.requests(name).first?.headers["Range"] == nil)
            }
            let received = try await daemon.metric("bytesReceived")
            #expect((4 * 90_000...4 * 90_000 + 3 * 30_000).contains(received))
        }
    }

    @Test func queuedDownloadsStayQueuedOnceWhenTheSetIsReplaced() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            let names = (0..<20).map { "/\($0).png" }
            for name in names { origin.route(name, .gated(image, after: 3000, gate)) }
            let urls = names.map { origin.url($0) }
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", urls, flags: more) + "\0")
            try await gate.reached(count: 6)
            // Keeps the running downloads and every other waiting one.
            let rest = (0..<20).filter { $0 < 6 || $0.isMultiple(of: 2) }
            try await stream.send(call("Fetch", rest.map { urls[$0] }, flags: more) + "\0")
            #expect(try await stream.lastReply().items.count == 20)
            #expect(try await stream.nextReply().items.count == rest.count)
            #expect(try await daemon.metric("transfersQueued") == rest.count - 6)
            gate.open()
            #expect(try await stream.lastReply().items.allSatisfy { $0.state == .cached })
            #expect(origin.requests().count == rest.count)
            #expect(Set(origin.requests().map(\.path)) == Set(rest.map { names[$0] }))
        }
    }

    @Test func aLargeSetIsReplacedLikeASmallOne() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            origin.route("/a.png", .gated(image, after: 3000, gate))
            let urls = (0..<3000).map { origin.url("/a.png?\($0)") }
            let daemon = try await DaemonFixture.start(in: scope)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", urls, flags: more) + "\0")
            try await gate.reached(count: 6)
            try await stream.send(call("Fetch", Array(urls[..<6]), flags: more) + "\0")
            #expect(try await stream.lastReply().items.count == 3000)
            #expect(try await stream.nextReply().items.count == 6)
            try await waitUntil("the rest to be dropped") {
                try await daemon.metric("transfersQueued") == 0
            }
            gate.open()
            #expect(try await stream.lastReply().items.map(\.state).allSatisfy { $0 == .cached })
            #expect(Set(origin.requests().map(\.target)) == Set((0..<6).map { "/a.png?\($0)" }))
            #expect(origin.requests().count == 6)
            // The next call ends a large stream as well.
            try await stream.send(call("Fetch", urls, flags: more) + "\0")
            try await stream.send(call("org.varlink.service.GetInfo") + "\0")
            #expect(try await stream.lastReply().items.count == 3000)
            #expect(try await stream.nextReply().parameters?.product == "cached")
        }
    }
}
