import CacheWire
import CachedClient
import TestSupport
import Testing

/// How the Swift library wants an image, and what it does without a daemon.
@Suite("Image requests", .serialized, .timeLimit(.minutes(5)))
struct ImageRequestTests {
    private static let image = SampleImage.png(byteCount: 90_000)

    @Test func aTypeThatIsNotAcceptedFailsAndStaysCached() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: Self.image))
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            var request = ImageRequest(origin.url("/a.png"))
            request.accept = ["image/jpeg", "image/webp"]
            let failure = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: request)
            }
            #expect(failure?.kind == .notAccepted)
            // It is cached now, and no more accepted than before.
            let again = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: request)
            }
            #expect(again?.kind == .notAccepted)
            request.accept = ["image/*"]
            #expect(try await cache.file(for: request).mediaType == "image/png")
        }
    }

    @Test func headersAndLimitsAreThoseOfTheRequest() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png") { request in
                request.headers["Authorization"] == "Bearer secret"
                    ? .answer(headers: ["Cache-Control": "max-age=60"], body: Self.image)
                    : .answer(401)
            }
            origin.route("/b.png", .gated(Self.image, after: 100, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            var request = ImageRequest(origin.url("/a.png") + "#as=ada")
            request.headers = ["Authorization": "Bearer secret"]
            #expect(try await cache.file(for: request).size == 90_000)
            try await cache.remove(account: "ada")
            #expect(cache.peek(request.url) == .missing)

            var late = ImageRequest(origin.url("/b.png"))
            late.timeout = .milliseconds(200)
            let failure = await #expect(throws: CacheFailure.self) {
                _ = try await cache.file(for: late)
            }
            #expect(failure?.kind == .deadline)
            gate.open()
        }
    }

    @Test func aSmallerImageStandsIn() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(width: 640, height: 480)))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let cache = ImageCache(of: daemon)
            #expect(cache.standIn(for: url) == nil)
            _ = try await daemon.fetch("\(url)#side=64")
            #expect(cache.standIn(for: url)?.path == (try daemon.path("\(url)#side=64")))
            #expect(cache.standIn(for: "\(url)#side=64") == nil)
        }
    }

    @Test func withoutAProgramImagesFailAtOnce() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            var configuration = ImageCache.Configuration(
                directory: home.file("cache"), socket: home.file("socket"))
            configuration.startsDaemon = false
            #expect(!ImageCache(configuration).isAvailable)
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(ImageCache(of: daemon).isAvailable)
        }
    }

    @Test func theFakeFollowsItsScript() async throws {
        let (url, other) = ("https://example.com/a.png", "https://example.com/b.png")
        let file = ImageFile(url: url, path: "/proc/version", mediaType: "image/png")
        let missing = CacheFailure(.http, "the server answered with status 404", httpStatus: 404)
        let cache = ImageCache(fake: [
            url: [.inFlight(Progress(received: 10, total: 100)), .cached(file)],
            other: [.failed(missing)],
        ])
        #expect(cache.isAvailable && cache.peek(url).progress?.received == 10)
        #expect(try await cache.file(for: ImageRequest(url)).path == "/proc/version")
        #expect(cache.peek(url).file?.mediaType == "image/png")
        #expect(cache.peek(other).failure == missing)
        let visible = cache.makeVisibleSet()
        visible.show([other])
        cache.add(.cached(ImageFile(url: other, path: "/proc/uptime")), of: other)
        let change = try await visible.changes.first("the image") { $0.state.file != nil }
        #expect(change.url == other)
        #expect(try await cache.states(of: [url, "https://example.com/c.png"]).last == .missing)
        try await cache.pin([url])
    }
}
