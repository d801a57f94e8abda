import CacheWire
import Glibc
import TestSupport
import Testing

/// The end of a daemon: quick and orderly after a signal, harmless after a crash.
@Suite("Stop", .serialized, .timeLimit(.minutes(5)))
struct StopTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalStopsTheDaemonWithinASecondAndAnswersEveryWaiter(_ signal: Int32) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let names = (0..<5).map { "/\($0).png" }
            for name in names {
                origin.route(name, .gated(SampleImage.png(byteCount: 9000), after: 4000, gate))
            }
            let urls = names.map { origin.url($0) }
            let daemon = try await DaemonFixture.start(in: scope)
            let waiting = try daemon.connect()
            try await waiting.send(call("Fetch", urls) + "\0")
            let streaming = try daemon.connect()
            try await streaming.send(call("Fetch", urls, flags: [#""more":true"#]) + "\0")
            let cachectl = try daemon.startCachectl("fetch", urls[0])
            let idle = try daemon.connect()
            #expect(try await idle.ask(call("Stats")).error == nil)
            try await gate.reached(count: 5)
            for url in urls {
                try await waitUntil("4000 bytes of each") {
                    try await idle.ask(call("Status", [url])).items.first?.received == 4000
                }
            }
            try await waitUntil("cachectl to have joined") {
                try await daemon.metric("joined") == 6
            }

            let watch = Stopwatch()
            daemon.process.signal(signal)
            #expect(try await daemon.process.waitForExit() == .success)
            #expect(watch.time(until: try #require(daemon.process.endedAt)) < .seconds(1))

            #expect(try await waiting.nextReply().error == "io.cached.Cache.ShuttingDown")
            #expect(try await waiting.receive() == nil)
            #expect(try await streaming.lastReply().error == "io.cached.Cache.ShuttingDown")
            #expect(try await idle.receive() == nil)
            let status = try await cachectl.waitForExit()
            #expect(status == .exited(69), "\(cachectl.text(.standardError))")
            for url in urls {
                #expect(size(at: try daemon.path(url) + ".part") == 4000)
                #expect(size(at: try daemon.path(url)) == nil)
            }
            #expect(size(at: daemon.socket) == nil)
            #expect(origin.requests().count == 5)
        }
    }

    @Test func with256DownloadsItStopsWithinASecondAndTheNextDaemonResumesThem() async throws {
        try await withTestScope { scope in
            let count = 256
            let image = SampleImage.png(byteCount: 9000)
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png") { request in
                request.firstOfRange == nil
                    ? .gated(image, after: 4000, gate, headers: ["ETag": "\"1\""])
                    : .ranged(image, for: request)
            }
            let urls = (0..<count).map { origin.url("/a.png?\($0)") }
            // An eighth of all slots is reserved for visible images.
            let daemon = try await DaemonFixture.start(
                ["--max-transfers", "512", "--max-transfers-per-host", "512"], in: scope)
            let waiting = try daemon.connect()
            try await waiting.send(call("Fetch", urls) + "\0")
            try await gate.reached(count: count)
            let asking = try daemon.connect()
            try await waitUntil("4000 bytes of each") {
                try await asking.ask(call("Status", urls)).items.allSatisfy { $0.received == 4000 }
            }

            let watch = Stopwatch()
            daemon.process.signal(SIGTERM)
            #expect(try await daemon.process.waitForExit() == .success)
            #expect(watch.time(until: try #require(daemon.process.endedAt)) < .seconds(1))
            #expect(try await waiting.nextReply().error == "io.cached.Cache.ShuttingDown")
            for url in urls { #expect(size(at: try daemon.path(url) + ".part") == 4000) }

            let again = try await daemon.restart()
            let items = try await again.ask(call("Fetch", urls)).items
            #expect(items.count { $0.state == .cached } == count)
            for url in urls { #expect(try contents(of: again.path(url)) == image) }
            let ranges = origin.requests().map(\.firstOfRange)
            #expect(ranges.count { $0 == nil } == count)
            #expect(ranges.count { $0 == 4000 } == count)
        }
    }

    @Test func anIdleDaemonStopsAtOnce() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let watch = Stopwatch()
            try await daemon.stop()
            #expect(watch.time(until: try #require(daemon.process.endedAt)) < .seconds(1))
            #expect(daemon.log.contains("listening"))
            #expect(daemon.log.contains("stopped"))
        }
    }

    @Test func aClientThatDoesNotReadDoesNotDelayTheStop() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = (0..<30_000).map { "http://a.example/\($0).png" }
            let connection = try daemon.connect()
            // The reply is larger than the socket's buffer.
            try await connection.send(call("Status", urls) + "\0")
            #expect(try await daemon.ask(call("Stats")).error == nil)
            let watch = Stopwatch()
            try await daemon.stop()
            #expect(watch.time(until: try #require(daemon.process.endedAt)) < .seconds(1))
        }
    }

    @Test func aSecondSignalDoesNotDisturbTheStop() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            daemon.process.signal(SIGTERM)
            daemon.process.signal(SIGTERM)
            daemon.process.signal(SIGINT)
            #expect(try await daemon.process.waitForExit() == .success)
        }
    }

    /// Another daemon that binds a socket in the same directory makes this one wait.
    @Test(arguments: [[SIGTERM], [SIGINT], [SIGTERM, SIGINT]])
    func duringTheStartOneSignalWaitsAndASecondEndsTheDaemon(_ signals: [Int32]) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let sockets = try home.directory("sockets")
            let other = open(sockets, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            #expect(flock(other, LOCK_EX) == 0)
            let process = try ChildProcess(
                BuiltProducts.program("cached"),
                ["--directory", home.file("c"), "--socket", "\(sockets)/s"],
                environment: minimalEnvironment(["MEMORY_PRESSURE_WATCH": "/dev/null"]), in: scope)
            try await waitUntil("the cache to be locked") { size(at: home.file("c/.lock")) != nil }
            for signal in signals { process.signal(signal) }
            if signals.count == 1 {
                close(other)
                #expect(try await process.waitForExit() == .success)
                #expect(process.text(.standardError).contains("stopped"))
                #expect(size(at: "\(sockets)/s") == nil)
            } else {
                guard case .signalled = try await process.waitForExit() else {
                    Issue.record("the daemon did not end at once")
                    return
                }
                close(other)
            }
        }
    }

    @Test func aCrashLeavesNoLockAndNoIncompleteEntry() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: 9000)
            origin.route("/whole.png", .answer(body: image))
            origin.route("/half.png") { request in
                request.id < 2 ? .gated(image, after: 4000, gate) : .answer(body: image)
            }
            let (whole, half) = (origin.url("/whole.png"), origin.url("/half.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(whole).state == .cached)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [half], flags: [#""more":true"#]) + "\0")
            _ = try await stream.nextItem { $0.received == 4000 }
            try await daemon.kill()

            // The directory and even the socket's file are as the crash left them.
            let again = try await daemon.restart()
            let items = try await again.ask(call("Status", [whole, half])).items
            #expect(items.map(\.state) == [.cached, .missing])
            #expect(try await again.fetch(half).state == .cached)
            #expect(try contents(of: again.path(half)) == image)
            #expect(size(at: try again.path(half) + ".part") == nil)
            #expect(origin.requests("/whole.png").count == 1)
        }
    }

    /// The reply neither claims more removals than there were, nor names another reason.
    @Test(arguments: [
        ("Evict", #""toBytes":0"#), ("Remove", #""prefix":"http:""#),
    ])
    func anOperationCutShortByAStopIsReportedAsIncomplete(method: String, parameters: String)
        async throws
    {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png()
            let names = (0..<1000).map { "/\($0).png" }
            for name in names { origin.route(name, .answer(body: image)) }
            let daemon = try await DaemonFixture.start(in: scope)
            let items = try await daemon.ask(call("Fetch", names.map { origin.url($0) })).items
            try #require(items.allSatisfy { $0.state == .cached })
            let removals = try FileEvents(.removals, in: daemon.directory, scope)
            let connection = try daemon.connect()
            try await connection.send(call(method, parameters: parameters) + "\0")
            try await removals.next()
            daemon.process.signal(SIGTERM)
            #expect(try await daemon.process.waitForExit() == .success)
            let answer = try await connection.nextReply()
            let left = try daemon.names(excluding: []).count
            if answer.error == nil {
                #expect(answer.parameters?.entries == names.count - left)
                #expect((answer.parameters?.failure?.kind == "shuttingDown") == (left > 0))
            } else {
                #expect(answer.error == "io.cached.Cache.ShuttingDown")
            }
            #expect(try await connection.receive() == nil)
        }
    }

    /// From the moment on when the socket's file exists.
    @Test(arguments: [SIGTERM, SIGINT])
    func aSignalDuringTheStartStopsTheDaemonCleanly(_ signal: Int32) async throws {
        try await withTestScope { scope in
            for _ in 0..<8 {
                var options = DaemonFixture.Options()
                options.waitsUntilReady = false
                let daemon = try await DaemonFixture.start(options, in: scope)
                // Polls without a pause, because the start would finish during one.
                try await offPool {
                    let watch = Stopwatch()
                    while access(daemon.socket, F_OK) != 0, watch.time < .seconds(60) {}
                }
                daemon.process.signal(signal)
                let status = try await daemon.process.waitForExit()
                #expect(status == .success, "\(daemon.log)")
                #expect(size(at: daemon.socket) == nil)
            }
        }
    }

    @Test func aStoppingDaemonDoesNotRemoveAnothersSocket() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            try #require(unlink(daemon.socket) == 0)
            let home = try TemporaryDirectory(in: scope)
            let other = try ChildProcess(
                BuiltProducts.program("cached"),
                ["--directory", home.file("c"), "--socket", daemon.socket], in: scope)
            try await other.waitForSocket(daemon.socket)
            try await daemon.stop()
            let connection = try VarlinkConnection(daemon.socket, in: scope)
            #expect(try await connection.ask(call("Stats")).error == nil)
        }
    }
}
