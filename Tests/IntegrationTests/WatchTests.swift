import CacheKey
import CacheWire
import Glibc
import TestSupport
import Testing

/// `Watch`: the state, then only changes.
@Suite("Watch", .serialized, .timeLimit(.minutes(5)))
struct WatchTests {
    // MARK: The initial state

    @Test func theFirstReplyIsTheCurrentState() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(a).state == .cached)
            let requests = origin.requests().count
            let stream = try daemon.connect()
            let more = [#""more":true"#]
            let first = try await stream.ask(call("Watch", [b, a, "nonsense", a], flags: more))
            #expect(first.continues == true)
            #expect(first.items.map(\.url) == [b, a, "nonsense", a])
            #expect(first.items.map(\.state) == [.missing, .cached, .missing, .cached])
            #expect(first.items[2].failure?.kind == "invalidURL")
            #expect(first.items[1].pinned == false)
            #expect(first.parameters?.removed == [])
            let all = try await daemon.connect().ask(call("Watch", flags: more))
            #expect(all.continues == true)
            #expect(all.items.map(\.url) == [a] && all.items.map(\.state) == [.cached])
            // Watching starts no download.
            #expect(origin.requests().count == requests)
            #expect(try await daemon.status(b).state == .missing)
        }
    }

    @Test func withoutMoreThereIsOneReply() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let connection = try daemon.connect()
            let url = "http://127.0.0.1:1/a.png"
            let answer = try await connection.ask(call("Watch", [url]))
            #expect(answer.continues == nil)
            #expect(answer.items.map(\.state) == [.missing])
            #expect(answer.parameters?.removed == [])
            // Watching everything has no end to wait for, and does not fit into one reply.
            let refusal = try await connection.ask(call("Watch"))
            #expect(refusal.error == "org.varlink.service.ExpectedMore")
        }
    }

    @Test func theCompleteStateIsSentInPages() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let urls = (0..<700).map { origin.url("/a.png?\($0)") }
            let daemon = try await DaemonFixture.start(in: scope)
            let answer = try await daemon.ask(call("Fetch", urls))
            try #require(answer.items.allSatisfy { $0.state == .cached })
            let everything = try Watcher(daemon)
            try await everything.watch()
            try await everything.take { $0.items.count == 700 }
            #expect(Set(everything.items.values.map(\.url)) == Set(urls))
            let named = try Watcher(daemon)
            try await named.watch(urls)
            try await named.take { $0.items.count == 700 }
            for watcher in [everything, named] {
                #expect(watcher.longestReply <= 256 && watcher.replies >= 3)
                #expect(watcher.events.count == 700, "nothing is reported twice")
            }
        }
    }

    // MARK: Changes

    @Test func progressIsReportedByThePercentAndTheEndAlways() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 200_000)
            origin.route("/a.png", .trickled(image, bytesPerSecond: 150_000))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            var watchers: [Watcher] = []
            for urls in [[url], nil] {
                let watcher = try Watcher(daemon)
                try await watcher.watch(urls)
                try await watcher.take()
                watchers.append(watcher)
            }
            let fetch = try daemon.connect()
            try await fetch.send(call("Fetch", [url]) + "\0")
            // One more watcher joins during the download.
            try await watchers[0].take { ($0.items.values.first?.percent ?? 0) > 20 }
            let late = try Watcher(daemon)
            try await late.watch([url])
            watchers.append(late)
            for watcher in watchers {
                try await watcher.take { $0.items.values.first?.state == .cached }
                let reported = try watcher.items(of: url)
                for (item, next) in zip(reported, reported.dropFirst()) {
                    guard next.phase == item.phase, next.state == item.state,
                        let received = item.received, let later = next.received,
                        next.total == item.total
                    else { continue }
                    #expect((later - received) * 100 >= image.count, "\(item) then \(next)")
                }
                #expect(zip(reported, reported.dropFirst()).allSatisfy { $0 != $1 })
                #expect(reported.last?.path == (try daemon.path(url)))
            }
            let count = try watchers[0].items(of: url).count
            #expect(count > 5 && count < 40, "\(count) items in 1.3 s")
        }
    }

    @Test(arguments: [false, true])
    func aVanishedImageIsReportedAsRemovedWhateverTheCause(everything: Bool) async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(6, in: scope)
            let urls = cache.urls
            let daemon = cache.daemon
            let watcher = try Watcher(daemon)
            try await watcher.watch(everything ? nil : urls)
            try await watcher.take { $0.items.count == 6 }

            try await daemon.cachectl("remove", urls[5])
            try await watcher.take { _ in try watcher.isRemoved(urls[5]) }
            try await cache.evict(to: 4)
            try await watcher.take { _ in try watcher.isRemoved(urls[0]) }
            #expect(unlink(try cache.path(1)) == 0)
            try await watcher.take { _ in try watcher.isRemoved(urls[1]) }
            // Another program removes a file and restores it.
            let aside = try TemporaryDirectory(in: scope).file("aside")
            try await runSuccessfully("cp", ["-a", try cache.path(2), aside])
            #expect(unlink(try cache.path(2)) == 0)
            try await watcher.take { _ in try watcher.isRemoved(urls[2]) }
            #expect(try watcher.state(of: urls[2]) == nil)
            try await runSuccessfully("cp", ["-a", aside, try cache.path(2)])
            try await watcher.take { _ in try watcher.state(of: urls[2]) == .cached }
            #expect(try watcher.items(of: urls[2]).last?.url == urls[2])
            #expect(Set(watcher.items.keys) == Set(try [2, 3, 4].map { try key(urls[$0]) }))
        }
    }

    @Test(arguments: [false, true])
    func aLostAndRestoredDirectoryIsReported(everything: Bool) async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(4, in: scope)
            let watcher = try Watcher(cache.daemon)
            try await watcher.watch(everything ? nil : cache.urls)
            try await watcher.take { $0.items.count == 4 }
            for _ in 0..<2 {
                let away = cache.daemon.directory + ".away"
                try #require(rename(cache.daemon.directory, away) == 0)
                try await watcher.take { _ in
                    try cache.urls.allSatisfy { try watcher.state(of: $0) == .missing }
                }
                try #require(rename(away, cache.daemon.directory) == 0)
                try await watcher.take { _ in
                    try cache.urls.allSatisfy { try watcher.state(of: $0) == .cached }
                }
            }
        }
    }

    @Test(arguments: [false, true])
    func aFailureIsReportedWithItsReason(everything: Bool) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let url = origin.url("/none.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let watcher = try Watcher(daemon)
            try await watcher.watch(everything ? nil : [url])
            try await watcher.take()
            #expect(try await daemon.fetch(url).state == .missing)
            try await watcher.take { _ in try watcher.items(of: url).last?.failure != nil }
            let item = try #require(try watcher.items(of: url).last)
            #expect(item.state == .missing && item.failure?.httpStatus == 404)
            #expect(item.url == url)
            #expect(try watcher.isRemoved(url))
        }
    }

    /// A call is a single message, and cachectl does not split it.
    @Test func moreURLsThanFitInOneCallAreAUsageError() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let tail = String(repeating: "x", count: 1000)
            let long = (0..<17_000).map { "http://127.0.0.1:9/\($0)\(tail)\n" }.joined()
            let output = try await daemon.cachectl("watch", "-", input: Array(long.utf8))
            #expect(output.status == .exited(64))
            #expect(output.errorText.contains("ask about fewer URLs at once"))
            let many = (0...200_000).map { "http://127.0.0.1:9/\($0)\n" }.joined()
            let refusal = try await daemon.cachectl("watch", "-", input: Array(many.utf8))
            #expect(refusal.status == .exited(64))
            #expect(refusal.errorText.contains("no more than 200000"))
        }
    }

    @Test func watchingDoesNotCountAsUse() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(6, in: scope)
            let everything = try Watcher(cache.daemon)
            try await everything.watch()
            try await everything.take { $0.items.count == 6 }
            let named = try Watcher(cache.daemon)
            try await named.watch([cache.urls[0], cache.urls[1]])
            try await named.take()
            try await cache.daemon.cachectl("pin", cache.urls[0])
            try await named.take { $0.items.values.contains { $0.pinned == true } }
            try await cache.daemon.cachectl("unpin", cache.urls[0])
            try await everything.take { $0.items.values.allSatisfy { $0.pinned == false } }
            try await cache.evict(to: 4)
            #expect(try cache.held() == [2, 3, 4, 5])
        }
    }

    /// The whole response arrives in one read, and no progress is reported before.
    @Test func aDownloadThatArrivesInOneReadIsReportedToItsEnd() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let (names, image) = (["/a.png", "/b.png"], SampleImage.png())
            var watchers: [Watcher] = []
            for urls in [names.map { origin.url($0) }, nil] {
                let watcher = try Watcher(daemon)
                try await watcher.watch(urls)
                try await watcher.take()
                watchers.append(watcher)
            }
            for name in names {
                let gate = try Gate()
                origin.route(
                    name,
                    [
                        .wait(gate), .head(200, ["Content-Length": "\(image.count)"]),
                        .bytes(image),
                    ])
                let fetch = try daemon.connect()
                try await fetch.send(call("Fetch", [origin.url(name)]) + "\0")
                for watcher in watchers {
                    try await watcher.take {
                        try $0.items(of: origin.url(name)).last?.phase == .connecting
                    }
                }
                gate.open()
                #expect(try await fetch.nextReply().items.map(\.state) == [.cached])
                for watcher in watchers {
                    try await watcher.take {
                        try $0.items(of: origin.url(name)).last?.state == .cached
                    }
                }
            }
        }
    }

    // MARK: The end of a stream

    /// Both the long call and the page of the stream are processed outside the event loop.
    @Test func leftoverStreamRepliesAreNotMixedIntoALongCallsReply() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = (0..<1500).map { "http://127.0.0.1:1/\($0).png" }
            let watch = call("Watch", flags: [#""more":true"#])
            for _ in 0..<40 {
                let connection = try daemon.connect()
                try await connection.send(watch + "\0" + call("Remove", urls) + "\0")
                while try await connection.nextReply().continues == true {}
                let text = try await connection.receiveText()
                #expect(text.contains(#""entries":0"#), "\(text)")
                connection.shutdown()
            }
        }
    }

    @Test func theNextCallEndsTheStream() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(1, in: scope)
            let watcher = try Watcher(cache.daemon)
            try await watcher.watch(cache.urls)
            try await watcher.take()
            #expect(try await cache.daemon.metric("watchers") == 1)
            try await watcher.connection.send(call("org.varlink.service.GetInfo") + "\0")
            #expect(try await watcher.take() == false)
            #expect(try await watcher.connection.nextReply().parameters?.product == "cached")
            #expect(try await cache.daemon.metric("watchers") == 0)
            // The client can watch again, and then disconnect.
            try await watcher.watch()
            try await watcher.take()
            #expect(try await cache.daemon.metric("watchers") == 1)
            watcher.connection.shutdown()
            try await waitUntil("the watcher to be removed") {
                try await cache.daemon.metric("watchers") == 0
            }
        }
    }

    @Test func aWatcherCanShutDownItsSendingSide() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(1, in: scope)
            let watcher = try Watcher(cache.daemon)
            try await watcher.watch()
            watcher.connection.endSending()
            try await watcher.take()
            try await cache.daemon.cachectl("remove", "--all")
            try await watcher.take { $0.items.isEmpty }
        }
    }

    @Test func watchersAreToldThatTheDaemonIsShuttingDown() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let watcher = try Watcher(daemon)
            try await watcher.watch()
            try await watcher.take()
            daemon.process.signal(SIGTERM)
            let last = try await watcher.connection.nextReply()
            #expect(last.error == "io.cached.Cache.ShuttingDown")
            #expect(try await watcher.connection.receive() == nil)
            try await daemon.stop()
        }
    }
}
