import CacheKey
import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheModel

/// The images that are written to a store, and those that never are.
@Suite("Cache: writes to a store", .timeLimit(.minutes(5)))
struct StoreWriteTests {
    private let image = SampleImage.png(byteCount: 5000)
    private let lasting: HeaderFields = ["Cache-Control": "max-age=1000", "ETag": "\"1\""]

    private func fixture(_ store: ScriptedStore, in scope: TestScope) throws -> CacheFixture {
        try CacheFixture(in: scope) { $0.store = store.settings }
    }

    private func writes(_ store: ScriptedStore) -> [String] {
        store.server.requests().filter { request in
            request.method != "GET" && request.method != "HEAD"
                && request.headers["x-amz-meta-claim"] == nil
        }.map(\.method)
    }

    @Test func aPublishedImageIsPutThere() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            store.server.route(store.path(imageRequest)) { request in
                request.method == "PUT" ? .answer(200) : .storeError(404, "NoSuchKey")
            }
            fixture.origin.route("/a.png", .answer(headers: lasting, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try await store.server.waitForOutcome(.answered, of: store.path(imageRequest), count: 3)
            let requests = store.server.requests(store.path(imageRequest))
            #expect(requests.map(\.method) == ["GET", "PUT", "PUT"])
            let claim = requests[1].headers
            #expect(claim["x-amz-meta-claim"] == "10" && claim["Content-Length"] == "0")
            #expect(claim["If-None-Match"] == "*")
            let put = requests[2]
            #expect(put.headers["If-None-Match"] == nil)
            #expect(put.headers["Content-Type"] == "image/png")
            #expect(put.headers["Content-Length"] == "5000")
            #expect(put.headers["x-amz-meta-sha256"] == ContentDigest(of: image).description)
            #expect(put.headers["x-amz-meta-record"]?.contains("etag=\"1\"") == true)
            #expect(put.headers["x-amz-meta-record"]?.contains(fixture.origin.url("")) == false)
        }
    }

    /// A machine that only reads sees by the mark that it looks at the right place.
    @Test func whoWritesLeavesAMarkAndWhoReadsLooksForIt() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let mark = "/images/v1/cached"
            #expect(store.settings.location.markURL == store.server.url(mark))
            store.server.route(mark) { [server = store.server] request in
                let isThere = server.requests(mark).contains { $0.method == "PUT" }
                guard request.method != "PUT" else { return .answer(200) }
                return isThere ? .answer(body: [1]) : .storeError(404, "NoSuchKey")
            }
            let reader = try CacheFixture(in: scope) {
                $0.store = store.settings
                $0.store?.policy.writes = false
            }
            #expect(reader.cache.checkStore()?.problem?.contains("no machine has put") == true)
            let fixture = try fixture(store, in: scope)
            for path in ["/a.png", "/b.png"] {
                store.server.route(store.path(try fixture.imageRequest(path))) { request in
                    request.method == "PUT" ? .answer(200) : .storeError(404, "NoSuchKey")
                }
                fixture.origin.route(path, .answer(headers: lasting, body: image))
                #expect(try await fixture.fetch(path).failures.isEmpty)
                try await waitUntil("the image to be in the store") {
                    fixture.storeCounters.uploads == (path == "/a.png" ? 1 : 2)
                }
            }
            try await store.server.waitForRequest(mark, count: 2)
            let puts = store.server.requests(mark).filter { $0.method == "PUT" }
            #expect(puts.count == 1 && puts.first?.headers["If-None-Match"] == "*")
            #expect(reader.cache.checkStore()?.problem == nil)
        }
    }

    @Test(arguments: [
        "private, max-age=1000", "no-store", "max-age=1000, no-store",
    ])
    func whatIsNotForEverybodyStaysHere(control: String) async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, in: scope)
            fixture.origin.route(
                "/a.png", .answer(headers: ["Cache-Control": control], body: image))
            fixture.origin.route("/v.png", .answer(headers: ["Vary": "*"], body: image))
            #expect(try await fixture.fetch("/a.png", "/v.png").failures.isEmpty)
            await CacheFixture.drain(fixture.cache)
            // Claims are taken back.
            #expect(writes(store).allSatisfy { $0 == "DELETE" })
        }
    }

    @Test func anImageThatIsGoneIsDeletedThere() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            let stale = store.fields(imageRequest, image, age: 7200)
            store.server.route(store.path(imageRequest)) { [image] request in
                request.method == "DELETE"
                    ? [.head(204, [:])] : .answer(headers: stale, body: image)
            }
            fixture.origin.route("/a.png", .answer(410))
            #expect(try await fixture.fetch("/a.png").failures.values.map(\.httpStatus) == [410])
            await CacheFixture.drain(fixture.cache)
            #expect(writes(store) == ["DELETE"])
        }
    }

    @Test func aConfirmationThatLastsIsWrittenThere() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, in: scope)
            for (path, lifetime) in [("/a.png", 7200), ("/b.png", 60)] {
                let imageRequest = try fixture.imageRequest(path)
                let stale = store.fields(imageRequest, image, age: 7200)
                store.server.route(store.path(imageRequest)) { [image] request in
                    request.method == "PUT"
                        ? .answer(200) : .answer(headers: stale, body: image)
                }
                fixture.origin.route(
                    path, [.head(304, ["Cache-Control": "max-age=\(lifetime)"])])
                #expect(try await fixture.fetch(path).failures.isEmpty)
            }
            await CacheFixture.drain(fixture.cache)
            let puts = store.server.requests().filter { $0.method == "PUT" }
            #expect(puts.map(\.path) == [store.path(try fixture.imageRequest("/a.png"))])
            #expect(puts.first?.headers["x-amz-metadata-directive"] == "REPLACE")
            #expect(puts.first?.headers["Content-Length"] == "0")
        }
    }

    @Test func writesThatWaitEndWithTheCacheInTime() async throws {
        try await withTestScope { scope in
            var store = try ScriptedStore(in: scope, mode: (true, true))
            store.settings.flush = .milliseconds(500)
            let fixture = try fixture(store, in: scope)
            let gate = try Gate()
            defer { gate.open() }
            let paths = (0..<200).map { "/\($0).png" }
            for path in paths {
                store.server.route(store.path(try fixture.imageRequest(path))) { request in
                    request.method == "PUT" ? [.wait(gate)] : .storeError(404, "NoSuchKey")
                }
                fixture.origin.route(path, .answer(headers: lasting, body: image))
            }
            let waiter = fixture.cache.fetch(
                try paths.map { try fixture.imageRequest($0) }, FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            let watch = Stopwatch()
            await CacheFixture.drain(fixture.cache)
            #expect(watch.time < .milliseconds(1500))
        }
    }
}
