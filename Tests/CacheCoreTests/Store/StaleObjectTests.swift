import CacheKey
import CacheValues
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Objects of a store that are no longer fresh, and entries that the store has fresh.
@Suite("Cache: stale objects of a store", .timeLimit(.minutes(5)))
struct StaleObjectTests {
    private let image = SampleImage.png(byteCount: 5000)
    private let other = SampleImage.png(byteCount: 6000, seed: 1)

    private func fixture(_ store: ScriptedStore, in scope: TestScope) throws -> CacheFixture {
        try CacheFixture(in: scope) { $0.store = store.settings }
    }

    private func contents(_ fixture: CacheFixture, _ path: String = "/a.png") throws -> [UInt8] {
        try TestSupport.contents(of: fixture.file(path))
    }

    @Test func aStaleObjectIsConfirmedByItsOrigin() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            store.has(try fixture.imageRequest("/a.png"), image, age: 7200)
            fixture.origin.route("/a.png", [.head(304, ["Cache-Control": "max-age=1000"])])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(fixture) == image)
            #expect(fixture.origin.requests().first?.headers["If-None-Match"] == "\"1\"")
            #expect(fixture.storeCounters.stale == 1)
        }
    }

    @Test func aStaleObjectHelpsWhileItsOriginIsDown() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            store.has(try fixture.imageRequest("/a.png"), image, age: 7200)
            store.has(try fixture.imageRequest("/b.png"), image, age: 7200) {
                $0.terms.mustRevalidate = true
            }
            for path in ["/a.png", "/b.png"] { fixture.origin.route(path, .answer(503)) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(fixture) == image)
            #expect(try await fixture.fetch("/b.png").failures.values.map(\.httpStatus) == [503])
        }
    }

    @Test func aStaleObjectThatMayBeUsedMeanwhileIsAHit() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let gate = try Gate()
            defer { gate.open() }
            store.has(try fixture.imageRequest("/a.png"), image, age: 3700) {
                $0.terms.staleWhileRevalidate = 600
            }
            fixture.origin.route(
                "/a.png", [.wait(gate), .head(304, ["Cache-Control": "max-age=1000"])])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try await fixture.origin.waitForRequest("/a.png")
            gate.open()
            try await fixture.lookup("/a.png") { lookup in
                if case .cached(let facts, _, nil) = lookup {
                    !facts.isStale(at: .now)
                } else {
                    false
                }
            }
        }
    }

    /// Somebody else has asked the origin in the meantime.
    @Test func aStaleEntryIsRenewedFromTheStore() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let stale: HeaderFields = [
                "Cache-Control": "max-age=7200", "Age": "7200", "ETag": "\"1\"",
            ]
            fixture.origin.route("/a.png", .answer(headers: stale, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let imageRequest = try fixture.imageRequest("/a.png")
            store.has(imageRequest, image)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(
                store.server.requests(store.path(imageRequest)).map(\.method) == ["GET", "HEAD"])
            #expect(fixture.origin.requests().count == 1)
            guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else {
                throw TestFailure("the image is not cached")
            }
            #expect(!facts.isStale(at: .now))
        }
    }

    @Test func aNewerImageOfTheStoreReplacesAStaleEntry() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let stale: HeaderFields = [
                "Cache-Control": "max-age=7200", "Age": "7200", "ETag": "\"1\"",
            ]
            fixture.origin.route("/a.png", .answer(headers: stale, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let imageRequest = try fixture.imageRequest("/a.png")
            store.has(imageRequest, other)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(fixture) == other)
            #expect(
                store.server.requests(store.path(imageRequest)).map(\.method) == [
                    "GET", "HEAD", "GET",
                ])
            #expect(fixture.origin.requests().count == 1)
        }
    }

    /// Confirmations for a minute are written nowhere, so the store knows nothing newer.
    @Test func theStoreIsNotAskedAboutAnEntryThatIsNeverFreshForLong() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let stale: HeaderFields = [
                "Cache-Control": "max-age=60", "Age": "60", "ETag": "\"1\"",
            ]
            fixture.origin.route("/a.png", .answer(headers: stale, body: image))
            for _ in 0..<3 { #expect(try await fixture.fetch("/a.png").failures.isEmpty) }
            #expect(store.server.requests().map(\.method) == ["GET"])
            #expect(fixture.origin.requests().count == 3)
        }
    }
}
