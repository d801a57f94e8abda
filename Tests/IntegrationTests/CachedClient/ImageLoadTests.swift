import CacheWire
import CachedClient
import TestSupport
import Testing

/// The states of one image, with and without the daemon.
@Suite(.timeLimit(.minutes(5))) struct ImageLoadTests {
    private let image = SampleImage.png(byteCount: 90_000)

    @Test func aFreshImageNeedsNoDaemon() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let fresh: HeaderFields = ["Cache-Control": "max-age=3600"]
            origin.route("/a.png", .answer(headers: fresh, body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            #expect(cache.peek(url) == .missing)
            let file = try await cache.file(for: ImageRequest(url))
            #expect(try file.path == daemon.path(url))
            #expect(file.size == 90_000 && file.mediaType == "image/png")
            try await daemon.stop()
            let load = cache.load(ImageRequest(url))
            #expect(load.initial.file?.path == file.path)
            var states: [ImageState] = []
            for await state in load { states.append(state) }
            #expect(states == [load.initial])
            #expect(try file.withBytes { Array($0) } == image)
        }
    }

    @Test func progressComesBeforeTheFile() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 30_000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            let load = cache.load(ImageRequest(url, priority: .visible))
            #expect(load.initial == .missing)
            let end = Task { await load.reduce(ImageState.missing) { $1 } }
            let coming = cache.load(ImageRequest(url))
            let state = try await coming.first("a third") { $0.progress?.received == 30_000 }
            #expect(state.progress?.fraction == 1 / 3 && state.progress?.phase == .receiving)
            #expect(cache.peek(url).progress?.received == 30_000)
            gate.open()
            #expect(await end.value.file?.size == 90_000)
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test func failuresSayWhy() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(404))
            origin.route("/b.png", .answer(body: Array("<html>".utf8)))
            origin.route("/c.png", .answer(body: image))
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            let missing = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: ImageRequest(origin.url("/a.png")))
            }
            #expect(missing?.kind == .http && missing?.httpStatus == 404)
            let page = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: ImageRequest(origin.url("/b.png")))
            }
            #expect(page?.kind == .notAnImage)
            let other = await #expect(throws: CacheFailure.self) {
                let digest = String(repeating: "0", count: 64)
                _ = try await cache.file(for: ImageRequest(origin.url("/c.png"), sha256: digest))
            }
            #expect(other?.kind == .refused)
            let invalid = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: "not a URL")
            }
            #expect(invalid?.kind == .invalidURL)
        }
    }

    @Test func aRefreshAsksTheOrigin() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let fresh: HeaderFields = ["Cache-Control": "max-age=3600"]
            origin.route("/a.png", .answer(headers: fresh, body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            _ = try await cache.file(for: ImageRequest(url))
            _ = try await cache.file(for: ImageRequest(url))
            #expect(origin.requests("/a.png").count == 1)
            _ = try await cache.file(for: ImageRequest(url, refresh: true))
            #expect(origin.requests("/a.png").count == 2)
        }
    }

    /// Neither a refresh nor a digest is satisfied by the file that is there.
    @Test func aFileThatIsThereIsNoAnswerToARefreshOrADigest() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let fresh: HeaderFields = ["Cache-Control": "max-age=3600"]
            origin.route("/a.png", .answer(headers: fresh, body: image))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon, patience: .milliseconds(100))
            _ = try await cache.file(for: ImageRequest(url))
            let digest = String(repeating: "0", count: 64)
            let other = ImageRequest(url, sha256: digest)
            #expect(cache.load(other).initial == .missing)
            let wrong = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: other)
            }
            #expect(wrong?.kind == .refused)
            // Until then, the last reply of the daemon could be the answer to the next request too.
            let connection = try daemon.connect()
            try await waitUntil("the library to hang up") {
                let stats = try await connection.ask(call("Stats")).parameters?.stats
                return stats?["connections"] == 1
            }
            try await daemon.stop()
            for request in [other, ImageRequest(url, refresh: true)] {
                let failure = await #expect(throws: CacheFailure.self) {
                    _ = try await cache.file(for: request)
                }
                #expect(failure?.kind == .noDaemon)
            }
        }
    }

    @Test func aCancelledTaskEndsTheDownload() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 100, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            let task = Task { () async throws -> ImageFile in
                try await cache.file(for: ImageRequest(url))
            }
            try await waitUntil("the download") { try await daemon.status(url).state == .inFlight }
            task.cancel()
            let failure = await #expect(throws: CacheFailure.self) { try await task.value }
            #expect(failure?.kind == .cancelled)
            try await waitUntil("the download to end") {
                try await daemon.status(url).state == .missing
            }
            gate.open()
        }
    }

    @Test func oneOfTwoWhoWantAnImageCanLeave() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 100, gate))
            let request = ImageRequest(origin.url("/a.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            let stays = Task { await cache.load(request).reduce(ImageState.missing) { $1 } }
            let leaves = Task { await cache.load(request).reduce(ImageState.missing) { $1 } }
            try await origin.waitForRequest("/a.png")
            leaves.cancel()
            _ = await leaves.value
            gate.open()
            #expect(await stays.value.file != nil)
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test func withoutADaemonALoadFailsInTime() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            var configuration = ImageCache.Configuration(
                directory: home.file("cache"), socket: home.file("socket"))
            configuration.patience = .milliseconds(100)
            let cache = ImageCache(configuration)
            let failure = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: "https://example.com/a.png")
            }
            #expect(failure?.kind == .noDaemon)
            #expect(try await cache.states(of: ["https://example.com/a.png"]) == [.missing])
            let pinning = await #expect(throws: CacheFailure.self) {
                try await cache.pin(["https://example.com/a.png"])
            }
            #expect(pinning?.kind == .noDaemon)
        }
    }

    /// A program that answers in the daemon's place can send replies that the daemon never sends.
    @Test(arguments: [
        "\0", "{}\0", "[\0", "{\"parameters\":{\"items\":[{\"url\":\"x\"}]}}\0", "\u{1}\u{2}",
        "{\"error\":\"io.cached.Cache.ShuttingDown\"}\0",
        String(repeating: "[", count: 100_000) + "\0",
    ])
    func aSocketThatTalksNonsenseIsNoDaemon(_ answer: String) async throws {
        try await withTestScope { scope in
            let listener = try UnixListener(in: scope)
            let answering = Task {
                while !Task.isCancelled {
                    let peer = try await listener.accept(within: .seconds(5))
                    _ = try await peer.read(20)
                    try? await peer.write(answer)
                    peer.close()
                }
            }
            defer { answering.cancel() }
            var configuration = ImageCache.Configuration(
                directory: "/nonexistent", socket: listener.path)
            configuration.patience = .milliseconds(300)
            let cache = ImageCache(configuration)
            let failure = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: "https://example.com/a.png")
            }
            #expect(failure?.kind == .noDaemon)
        }
    }

    @Test func aThousandLoadsOutliveTheDaemon() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let urls = (0..<1000).map { origin.url("/\($0).png") }
            let small = SampleImage.png(byteCount: 1000)
            for number in 0..<1000 {
                origin.route("/\(number).png", .gated(small, after: 10, gate))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            var options = DaemonFixture.Options()
            (options.directory, options.socket) = (daemon.directory, daemon.socket)
            let cache = ImageCache(of: daemon)
            let loads = Task {
                await withTaskGroup { group in
                    for url in urls {
                        group.addTask {
                            await cache.load(ImageRequest(url)).reduce(ImageState.missing) { $1 }
                        }
                    }
                    return await group.reduce(into: 0) { if $1.file != nil { $0 += 1 } }
                }
            }
            try await waitUntil("all to be wanted") {
                try await daemon.downloads() == 1000
            }
            try await daemon.kill()
            gate.open()
            _ = try await DaemonFixture.start(options, in: scope)
            #expect(await loads.value == 1000)
        }
    }
}
