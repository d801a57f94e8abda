import CacheKey
import CacheSamples
import CacheValues
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Downloads with a store that answers as no good store would.
@Suite("Cache: store", .timeLimit(.minutes(5)))
struct ScriptedStoreTests {
    private let image = SampleImage.png(byteCount: 5000)
    private let other = SampleImage.png(byteCount: 6000, seed: 1)
    private let large = SampleImage.png(byteCount: 300_000)
    private let lasting: HeaderFields = ["Cache-Control": "max-age=1000", "ETag": "\"1\""]

    private func fixture(_ store: ScriptedStore, in scope: TestScope) throws -> CacheFixture {
        try CacheFixture(in: scope) { $0.store = store.settings }
    }

    private func contents(_ fixture: CacheFixture, _ path: String = "/a.png") throws -> [UInt8] {
        try TestSupport.contents(of: fixture.file(path))
    }

    @Test func anImageOfTheStoreNeedsNoOrigin() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            for (path, bytes) in [("/a.png", image), ("/b.png", large)] {
                store.has(try fixture.imageRequest(path), bytes, age: 600)
                #expect(try await fixture.fetch(path).failures.isEmpty)
                #expect(try contents(fixture, path) == bytes)
            }
            #expect(fixture.origin.requests().isEmpty)
            #expect(fixture.storeCounters.hits == 2)
            guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else {
                throw TestFailure("the image is not cached")
            }
            let left = (facts.freshUntil ?? .now) - .now
            #expect(2998...3001 ~= left)
            let key = try fixture.imageRequest("/a.png").key
            let details = fixture.cache.details(of: key, withOrigin: true)
            #expect(details.origin?.isFromStore == true)
            // A hit sends no request.
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(store.server.requests().count == 2)
        }
    }

    @Test func anImageThatTheStoreLacksComesFromItsOrigin() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            fixture.origin.route("/a.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.storeCounters.misses == 1)
            #expect(store.server.requests().map(\.method) == ["GET"])
            #expect(fixture.origin.requests().count == 1)
        }
    }

    @Test func aRefreshPassesTheStoreBy() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            store.has(try fixture.imageRequest("/a.png"), image)
            fixture.origin.route("/a.png", .answer(headers: lasting, body: other))
            let options = FetchOptions(isRefresh: true)
            #expect(try await fixture.fetch("/a.png", options: options).failures.isEmpty)
            #expect(try contents(fixture) == other)
            #expect(store.server.requests().isEmpty)
        }
    }

    // MARK: Objects that are wrong

    typealias Script = @Sendable (ScriptedStore, ImageRequest, [UInt8]) -> OriginScript

    private static let wrongs: [String: Script] = [
        "a page": { store, imageRequest, _ in
            .answer(
                headers: store.fields(imageRequest, Array("<html>".utf8)),
                body: Array("<html>".utf8))
        },
        "no record": { _, _, image in .answer(headers: ["ETag": "\"1\""], body: image) },
        "another digest": { store, imageRequest, image in
            var bytes = image
            bytes[bytes.count / 2] ^= 1
            return .answer(headers: store.fields(imageRequest, image), body: bytes)
        },
        "another size": { store, imageRequest, image in
            .answer(headers: store.fields(imageRequest, image) { $0.size += 1 }, body: image)
        },
        "another URL": { store, imageRequest, image in
            .answer(
                headers: store.fields(ImageRequest(Sample.url("x")), image), body: image)
        },
        "packed": { store, imageRequest, image in
            let packed: HeaderFields = ["Content-Encoding": "gzip"]
            return .answer(
                headers: packed.withDefaults(store.fields(imageRequest, image)), body: image)
        },
        "a damaged record": { store, imageRequest, image in
            let damaged: HeaderFields = ["x-amz-meta-record": "v1 size=5000 put=1 sum=00000000"]
            return .answer(
                headers: damaged.withDefaults(store.fields(imageRequest, image)), body: image)
        },
        "two megabytes of metadata": { store, imageRequest, image in
            .answer(
                headers: store.fields(imageRequest, image).withDefaults([
                    "x-amz-meta-x": String(repeating: "x", count: 2_000_000)
                ]), body: image)
        },
    ]

    @Test(arguments: wrongs.keys.sorted())
    func aWrongObjectIsNotBelieved(wrong: String) async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            let script = try #require(Self.wrongs[wrong])
            store.server.route(store.path(imageRequest), script(store, imageRequest, image))
            fixture.origin.route("/a.png", .answer(headers: lasting, body: other))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(fixture) == other)
            #expect(fixture.storeCounters.bad == 1)
            #expect(fixture.storeCounters.hits == 0)
        }
    }

    /// Nothing that a store has can become an entry unless it is right.
    @Test func manyWrongObjectsPublishNothing() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let scripts = Self.wrongs.filter { !$0.key.hasPrefix("two megabytes") }.map(\.value)
            let count = isLongForm ? 100_000 : 400
            let imageRequests = try (0..<count).map { try fixture.imageRequest("/\($0).png") }
            for (number, imageRequest) in imageRequests.enumerated() {
                let script = scripts[number % scripts.count](store, imageRequest, image)
                store.server.route(store.path(imageRequest), script)
            }
            for first in stride(from: 0, to: count, by: 1000) {
                let some = Array(imageRequests[first..<min(first + 1000, count)])
                let waiter = fixture.cache.fetch(some, FetchOptions())
                #expect(try await fixture.outcome(of: waiter).failures.count == some.count)
            }
            // On a busy machine some answers are late, and then the store is not asked for a while.
            #expect(fixture.storeCounters.bad > count / 10)
            #expect(fixture.storeCounters.hits == 0)
            #expect(fixture.cache.statistics().entries == 0)
        }
    }

    @Test func anObjectThatDripsIsGivenUp() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            store.server.route(
                store.path(imageRequest),
                .trickled(large, bytesPerSecond: 300, headers: store.fields(imageRequest, large)))
            fixture.origin.route("/a.png", .answer(headers: lasting, body: other))
            let watch = Stopwatch()
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(watch.time < .seconds(3))
            #expect(try contents(fixture) == other)
            #expect(fixture.storeCounters.late == 1)
        }
    }

    /// The time is for the whole head, and bytes of it do not prolong it.
    @Test func aHeadThatDripsIsLate() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, timeout: .milliseconds(300))
            let fixture = try fixture(store, in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            let head = "HTTP/1.1 200 OK\r\n" + String(repeating: "X-Y: z\r\n", count: 1000)
            store.server.route(
                store.path(imageRequest), [.trickle(Array(head.utf8), bytesPerSecond: 400)])
            fixture.origin.route("/a.png", .answer(headers: lasting, body: other))
            let watch = Stopwatch()
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(watch.time < .seconds(3))
            #expect(fixture.storeCounters.late == 1)
        }
    }

    @Test func aCutBodyIsAFailureOfTheStoreAndNoPartial() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            store.server.route(
                store.path(imageRequest),
                [
                    .head(
                        200,
                        store.fields(imageRequest, large).withDefaults([
                            "Content-Length": "\(large.count)"
                        ])), .bytes(Array(large.prefix(200_000))), .close,
                ])
            fixture.origin.route("/a.png", .answer(headers: lasting, body: other))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(fixture) == other)
            #expect(fixture.storeCounters.late == 1)
            #expect(fixture.origin.requests().first?.headers["Range"] == nil)
        }
    }

    // MARK: Claims

    /// Another machine has claimed the image. It comes, or it does not.
    @Test(arguments: [true, false])
    func aClaimOfAnotherMachineIsWaitedForAMoment(comes: Bool) async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            let path = store.path(imageRequest)
            let claim: HeaderFields = [
                "x-amz-meta-claim": "10", "Date": Sample.date(3), "Last-Modified": Sample.date(0),
            ]
            let fields = store.fields(imageRequest, image)
            store.server.route(path) { [image, server = store.server] request in
                if request.method == "PUT" { return .answer(200) }
                return comes && server.requests(path).count > 2
                    ? .answer(headers: fields, body: image) : .answer(headers: claim)
            }
            fixture.origin.route("/a.png", .answer(headers: lasting, body: other))
            let watch = Stopwatch()
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(watch.time < .seconds(2))
            #expect(try contents(fixture) == (comes ? image : other))
            #expect(fixture.storeCounters.awaited >= 2 && fixture.storeState == "ok")
            #expect(store.server.requests(path).allSatisfy { $0.method == "GET" } || !comes)
        }
    }

    /// The machine that claimed the image has failed.
    @Test func aClaimThatIsOverIsReplaced() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, in: scope)
            let path = store.path(try fixture.imageRequest("/a.png"))
            let claim: HeaderFields = [
                "x-amz-meta-claim": "10", "Date": Sample.date(11), "Last-Modified": Sample.date(0),
            ]
            store.server.route(path) { request in
                request.method == "PUT" ? .answer(200) : .answer(headers: claim)
            }
            fixture.origin.route("/a.png", .answer(headers: lasting, body: other))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            await CacheFixture.drain(fixture.cache)
            let puts = store.server.requests(path).filter { $0.method == "PUT" }
            #expect(puts.count == 1 && puts[0].headers["x-amz-meta-claim"] == nil)
            #expect(puts.allSatisfy { $0.headers["If-None-Match"] == nil })
        }
    }

    /// Two machines claim it at one moment, or the store knows no claims.
    @Test(arguments: [412, 409, 403, 501])
    func aClaimMayFail(status: Int) async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, in: scope)
            let path = store.path(try fixture.imageRequest("/a.png"))
            store.server.route(path) { request in
                guard request.method == "PUT" else { return .storeError(404, "NoSuchKey") }
                return request.headers["x-amz-meta-claim"] == nil
                    ? .answer(200) : .storeError(status, "PreconditionFailed")
            }
            fixture.origin.route("/a.png", .answer(headers: lasting, body: other))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.storeCounters.claims == 0 && fixture.storeState == "ok")
            #expect((fixture.storeCounters.awaited > 0) == [409, 412].contains(status))
        }
    }

    // MARK: A store that fails

    /// The store needs longer than it may, and its origin even longer.
    @Test func theFirstWholeAnswerWinsOnceTheStoreIsLate() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, timeout: .patience)
            let fixture = try fixture(store, in: scope)
            // Before, each image may have a partial, which only one download can continue.
            fixture.cache.waitForScan()
            let (late, never) = (try Gate(), try Gate())
            defer { never.open() }
            let imageRequest = try fixture.imageRequest("/a.png")
            let fields = store.fields(imageRequest, image)
                .withDefaults(["Content-Length": "\(image.count)"])
            store.server.route(
                store.path(imageRequest), [.wait(late), .head(200, fields), .bytes(image)])
            fixture.origin.route("/a.png", [.wait(never)])
            let waiter = fixture.cache.fetch([imageRequest], FetchOptions())
            try await waitUntil("the origin to be asked") {
                !fixture.origin.requests().isEmpty
            }
            late.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(try contents(fixture) == image)
            #expect(fixture.storeCounters.late == 1 && fixture.storeCounters.hits == 1)
        }
    }

    @Test func aSilentStoreIsWaitedForOnceAndThenLeftAlone() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, timeout: .milliseconds(300))
            let fixture = try fixture(store, in: scope)
            let gate = try Gate()
            defer { gate.open() }
            let paths = (0..<60).map { "/\($0).png" }
            for path in paths {
                store.server.route(store.path(try fixture.imageRequest(path)), [.wait(gate)])
                fixture.origin.route(path, .answer(headers: lasting, body: image))
            }
            let watch = Stopwatch()
            let waiter = fixture.cache.fetch(
                try paths.map { try fixture.imageRequest($0) }, FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(watch.time < .seconds(5))
            #expect(fixture.storeState == "late")
            #expect(store.server.requests().count <= 40)
            #expect(fixture.origin.requests().count == 60)
        }
    }

    @Test(arguments: [
        ("SignatureDoesNotMatch", 403, "secret"), ("InvalidAccessKeyId", 403, "key ID"),
        ("AccessDenied", 403, "policy"), ("RequestTimeTooSkewed", 403, "clock"),
        ("NoSuchBucket", 404, "bucket"), ("PermanentRedirect", 301, "CACHED_STORE_REGION"),
        ("AuthorizationHeaderMalformed", 400, "CACHED_STORE_REGION"),
    ])
    func aRefusalIsToldOnceWithItsRemedy(code: String, status: Int, remedy: String) async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let log = LogLines()
            let fixture = try CacheFixture(in: scope, log: log) { $0.store = store.settings }
            for path in ["/a.png", "/b.png", "/c.png"] {
                store.fails(try fixture.imageRequest(path), status, code)
                fixture.origin.route(path, .answer(headers: lasting, body: image))
                #expect(try await fixture.fetch(path).failures.isEmpty)
            }
            #expect(store.server.requests().count == 1)
            #expect(fixture.storeState == "refused")
            #expect(fixture.storeCounters.refused == 1)
            let lines = log.messages.filter { $0.contains("the store cannot be used") }
            #expect(lines.count == 1)
            let error = fixture.cache.statistics().store?.lastError
            #expect(error?.contains(code) == true)
            #expect(error?.contains(remedy) == true)
        }
    }

    /// A rule has moved the object to an archive, its key is gone, or another account owns it.
    @Test(arguments: [
        (403, "InvalidObjectState"), (400, "KMS.DisabledException"), (403, "AccessDenied"),
    ])
    func theRefusalOfOneObjectIsThatObjects(status: Int, code: String) async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, in: scope)
            let path = store.path(try fixture.imageRequest("/b.png"))
            store.server.route(path) { request in
                request.method == "PUT" ? .answer(200) : .storeError(status, code)
            }
            store.has(try fixture.imageRequest("/c.png"), image)
            for path in ["/a.png", "/b.png"] {
                fixture.origin.route(path, .answer(headers: lasting, body: other))
            }
            for path in ["/a.png", "/b.png", "/c.png"] {
                #expect(try await fixture.fetch(path).failures.isEmpty)
            }
            #expect(fixture.storeState == "ok")
            #expect(fixture.storeCounters.bad == 1 && fixture.storeCounters.hits == 1)
            await CacheFixture.drain(fixture.cache)
            let put = store.server.requests(path).last
            #expect(put?.method == "PUT" && put?.headers["If-None-Match"] == nil)
        }
    }

    /// Some other server is at the endpoint.
    @Test(arguments: [
        (404, "text/html"), (404, "text/plain"), (200, "text/html"), (200, "text/plain"),
        (403, "text/html"), (302, "text/html"),
    ])
    func aServerThatSpeaksNoS3IsRefused(status: Int, type: String) async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            store.server.otherwise(
                .answer(
                    status, headers: ["Content-Type": type, "Location": "/"],
                    body: Array("<html>Welcome</html>".utf8)))
            fixture.origin.route("/a.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.storeState == "refused")
            #expect(
                fixture.cache.statistics().store?.lastError?.contains("CACHED_STORE_ENDPOINT")
                    == true)
            #expect(fixture.cache.checkStore()?.problem?.contains("CACHED_STORE_ENDPOINT") == true)
        }
    }

    /// What no time heals is told with its remedy, and not taken for slowness.
    @Test(arguments: [
        ("http://127.0.0.1:1", "nothing answers"), ("http://nowhere.invalid", "does not resolve"),
    ])
    func anEndpointThatIsNoneIsRefused(endpoint: String, remedy: String) async throws {
        try await withTestScope { scope in
            var store = try ScriptedStore(in: scope)
            store.settings.location = try StoreLocation(
                "s3://images", endpoint: endpoint, region: "us-east-1", style: nil)
            let fixture = try fixture(store, in: scope)
            fixture.origin.route("/a.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.storeState == "refused")
            #expect(fixture.cache.statistics().store?.lastError?.contains(remedy) == true)
        }
    }

    @Test func aStoreThatWasRefusedIsAskedAgainOnceThereAreOtherCredentials() async throws {
        try await withTestScope { scope in
            var store = try ScriptedStore(in: scope)
            let home = try TemporaryDirectory(in: scope)
            store.settings.credentials = StoreCredentialSource(
                environment: ["AWS_SHARED_CREDENTIALS_FILE": home.file("credentials")])
            let fixture = try fixture(store, in: scope)
            try await waitUntil("the lack of credentials to be noticed") {
                fixture.storeState == "refused"
            }
            fixture.origin.route("/a.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(store.server.requests().isEmpty)
            try home.write(
                "[default]\naws_access_key_id = a\naws_secret_access_key = b\n", to: "credentials")
            let watch = Stopwatch()
            try await waitUntil("the credentials to be used") { fixture.storeState == "ok" }
            #expect(watch.time < .seconds(2))
            store.has(try fixture.imageRequest("/b.png"), image)
            #expect(try await fixture.fetch("/b.png").failures.isEmpty)
            #expect(fixture.storeCounters.hits == 1)
        }
    }

    /// The policy of another machine ends at the machine.
    @Test func anObjectIsNotFreshForEver() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            store.has(try fixture.imageRequest("/a.png"), image, lifetime: 300_000_000)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else {
                throw TestFailure("the image is not cached")
            }
            #expect((facts.freshUntil ?? .now) - .now <= 30 * 86_400)
        }
    }

    @Test func aDenialIsAMissOnceTheKeyIsKnownToWork() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            store.has(try fixture.imageRequest("/a.png"), image)
            store.fails(try fixture.imageRequest("/b.png"), 403, "AccessDenied")
            store.fails(try fixture.imageRequest("/c.png"), 403, "AccessDenied")
            for path in ["/b.png", "/c.png"] {
                fixture.origin.route(path, .answer(headers: lasting, body: other))
            }
            for path in ["/a.png", "/b.png", "/c.png"] {
                #expect(try await fixture.fetch(path).failures.isEmpty)
            }
            #expect(fixture.storeState == "ok")
            #expect(fixture.storeCounters.misses == 2)
        }
    }

    @Test func anOverloadedStoreGetsItsPause() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            store.fails(try fixture.imageRequest("/a.png"), 503, "SlowDown", ["Retry-After": "30"])
            fixture.origin.route("/a.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.storeState == "late")
        }
    }

    // MARK: Addresses

    /// Neither the name nor the address of the origin is public. The first image shows the address.
    @Test func imagesOfALocalOriginAreNeitherAskedForNorPutThere() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let origin = try ScriptedOrigin(in: scope)
            let port = origin.port
            let fixture = try CacheFixture(in: scope, origin: origin) {
                $0.store = store.settings
                $0.transfers.keepsLocalImages = true
                $0.transfers.resolutions = ["images.test:\(port):127.0.0.1"]
            }
            for path in ["/a.png", "/b.png"] {
                origin.route(path, .answer(headers: lasting, body: image))
            }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(store.server.requests().isEmpty)
            for path in ["/a.png", "/b.png"] {
                let url = try CacheURL("http://images.test:\(port)\(path)")
                store.server.route(store.path(ImageRequest(url))) { request in
                    request.method == "GET" ? .storeError(404, "NoSuchKey") : .answer()
                }
                let waiter = fixture.cache.fetch([ImageRequest(url)], FetchOptions())
                #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            }
            await CacheFixture.drain(fixture.cache)
            // The claim of the first image had no bytes, and is gone.
            let requests = store.server.requests()
            #expect(requests.map(\.method) == ["GET", "PUT", "DELETE"])
            #expect(requests.allSatisfy { $0.headers["Content-Length"] ?? "0" == "0" })
        }
    }

    /// The store's address is configured, and a client's URL is not.
    @Test func aClientsURLNeverUsesTheStoresConnection() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, timeout: .patience)
            let fixture = try CacheFixture(in: scope) {
                $0.store = store.settings
                $0.transfers.addressPolicy = AddressPolicy()
            }
            let imageRequests = (0..<10).map { ImageRequest(Sample.url("\($0)")) }
            for imageRequest in imageRequests { store.has(imageRequest, image) }
            let first = fixture.cache.fetch(imageRequests, FetchOptions())
            #expect(try await fixture.outcome(of: first).failures.isEmpty)
            let asked = store.server.requests().count
            let url = try CacheURL(store.server.url(store.path(imageRequests[0])))
            let second = fixture.cache.fetch([ImageRequest(url)], FetchOptions())
            let outcome = try await fixture.outcome(of: second)
            #expect(outcome.failures.values.map(\.kind) == [.addressRefused])
            // The store was asked for the image of that URL, and nothing else.
            #expect(store.server.requests().count == asked + 1)
            #expect(store.server.requests().last?.path.contains(CacheKey(url).description) == true)
        }
    }
}
