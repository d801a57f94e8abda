import CacheWire
import CachedClient
import TestSupport
import Testing

/// Lists of images: visible rows, rows ahead, and changes.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ListTests {
    private let image = SampleImage.png(byteCount: 90_000)

    /// 120 cells through a window of 10.
    @Test func whatLeavesTheWindowStops() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let urls = (0..<120).map { origin.url("/\($0).png") }
            for number in 0..<120 {
                origin.route("/\(number).png", .gated(image, after: 100, gate))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let visible = ImageCache(of: daemon).makeVisibleSet()
            for start in stride(from: 0, through: 110, by: 5) {
                visible.show(Array(urls[start..<(start + 10)]))
            }
            let left = ContinuousClock.now
            let window = Set(urls[110...])
            try await waitUntil("the downloads outside of the window to stop") {
                let reply = try await daemon.ask(call("List", parameters: #""state":"inFlight""#))
                return Set(reply.items.map(\.url)) == window
            }
            #expect(ContinuousClock.now - left < .seconds(2))
            // The list can arrive before the stream's next reply.
            try await waitUntil("the client to know of all of them") {
                _ = try await daemon.metric("watchers")
                return window.allSatisfy { visible[$0].progress != nil }
            }
            gate.open()
            let waiting = Shared(window)
            _ = try await visible.changes.first("all of the window") { change in
                waiting.withLock { waiting in
                    if change.state.file != nil { waiting.remove(change.url) }
                    return waiting.isEmpty
                }
            }
            visible.show([])
            try await waitUntil("the stream to end") { try await daemon.metric("watchers") == 0 }
        }
    }

    @Test func whatComesBackIsAsFarAsItWas() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 30_000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            let visible = cache.makeVisibleSet()
            visible.show([url])
            _ = try await visible.changes.first("a third") { $0.state.progress?.received == 30_000 }
            let background = cache.prefetch([url])
            visible.show([])
            // The present state is known at once, without a daemon.
            #expect(visible[url].progress?.received == 30_000)
            visible.show([url])
            background.cancel()
            gate.open()
            _ = try await visible.changes.first("the file") { $0.state.file != nil }
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test func whatIsPrefetchedEndsWithTheObject() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let urls = (0..<20).map { origin.url("/\($0).png") }
            for number in 0..<20 { origin.route("/\(number).png", .gated(image, after: 10, gate)) }
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            var prefetch: Prefetch? = cache.prefetch(urls)
            try await waitUntil("the downloads") { try await daemon.downloads() == 20 }
            _ = prefetch
            prefetch = nil
            try await waitUntil("their end") { try await daemon.downloads() == 0 }
            gate.open()
        }
    }

    @Test func tenThousandCanBeWanted() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/last.png", .answer(body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            let visible = cache.makeVisibleSet(priority: .background)
            let urls = (0..<10_000).map { origin.url("/slow\($0).png") }
            for number in 0..<10_000 {
                origin.route("/slow\(number).png", .gated(image, after: 10, gate))
            }
            visible.show(urls)
            try await waitUntil("all to be wanted") {
                try await daemon.downloads() == 10_000
            }
            let last = origin.url("/last.png")
            visible.show([last])
            _ = try await visible.changes.first("the last") {
                $0.url == last && $0.state.file != nil
            }
            try await waitUntil("the others to end") { try await daemon.downloads() == 0 }
            gate.open()
        }
    }

    @Test func changesOfTheWholeCacheAreSeen() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            let changes = cache.changes
            async let published = changes.first("the file") {
                $0.url == url && $0.state.file != nil
            }
            try await waitUntil("the watch") { try await daemon.metric("watchers") == 1 }
            #expect(try await daemon.fetch(url).state == .cached)
            let key = try await published.key
            async let gone = cache.changes.first("the end") {
                $0.key == key && $0.state == .missing
            }
            try await waitUntil("the watch") { try await daemon.metric("watchers") == 1 }
            try await cache.remove([url])
            _ = try await gone
            #expect(cache.peek(url) == .missing)
        }
    }

    @Test func pinsAndStatesGoThroughTheDaemon() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let (url, other) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            _ = try await cache.file(for: ImageRequest(url))
            try await cache.pin([url])
            #expect(try await daemon.status(url, details: true).pinned == true)
            try await cache.unpin([url])
            #expect(try await daemon.status(url, details: true).pinned != true)
            let states = try await cache.states(of: [url, other, url])
            #expect(states.map { $0.file != nil } == [true, false, true])
            let failure = await #expect(throws: CacheFailure.self) { try await cache.pin([other]) }
            #expect(failure?.kind == .evicted)
        }
    }

    @Test func aFileThatIsGoneSaysSo() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            let file = try await cache.file(for: ImageRequest(url))
            try await cache.remove([url])
            let failure = #expect(throws: CacheFailure.self) { _ = try file.open().take() }
            #expect(failure?.kind == .evicted)
        }
    }
}
