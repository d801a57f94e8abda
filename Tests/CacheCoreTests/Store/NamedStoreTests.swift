import CacheKey
import CacheValues
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Images in a store whose names are not the URLs they are downloaded from.
@Suite("Cache: store and names", .timeLimit(.minutes(5)))
struct NamedStoreTests {
    private let image = SampleImage.png(byteCount: 5000)
    private let lasting: HeaderFields = ["Cache-Control": "max-age=1000", "ETag": "\"1\""]

    private func fixture(
        _ store: ScriptedStore, ignoring rules: String = "", in scope: TestScope
    ) throws -> CacheFixture {
        let rules = try IgnoredQueries(rules)
        return try CacheFixture(in: scope) {
            $0.store = store.settings
            $0.ignoredQueries = rules
            $0.sharesFiles = true
        }
    }

    private func fetch(_ request: ImageRequest, by fixture: CacheFixture) async throws -> Outcome {
        let waiter = fixture.cache.fetch([request], FetchOptions())
        return try await fixture.outcome(of: waiter)
    }

    /// Each machine has a signature of its own. The object belongs to the part of their URLs that a rule keeps.
    @Test func theNameThatARuleGivesAnImageNamesItsObject() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let first = try fixture(store, ignoring: "127.0.0.1:sig", in: scope)
            let name = try CacheURL(first.origin.url("/a.png?size=2"))
            let signed = try CacheURL(first.origin.url("/a.png?sig=1&size=2"))
            let request = ImageRequest(signed, named: name)
            store.server.route(store.path(request)) { request in
                request.method == "PUT" ? .answer(200) : .storeError(404, "NoSuchKey")
            }
            first.origin.route("/a.png?sig=1&size=2", .answer(headers: lasting, body: image))
            #expect(try await fetch(request, by: first).failures.isEmpty)
            await CacheFixture.drain(first.cache)
            let put = try #require(store.server.requests(store.path(request)).last)
            #expect(put.method == "PUT" && put.path == store.path(ImageRequest(name)))
            #expect(put.headers["x-amz-meta-left-out"] == "sig")
            let mark = store.server.requests("/images/v1/cached").first
            #expect(mark?.method == "PUT" && mark?.headers["If-None-Match"] == "*")
            #expect(put.headers["x-amz-meta-url-digest"] == StoreMetadata.urlDigest(of: name))
            #expect(put.headers["x-amz-meta-record"]?.contains("sig") == false)

            let second = try fixture(store, ignoring: "127.0.0.1:sig", in: scope)
            store.has(ImageRequest(name), image)
            let other = try CacheURL(first.origin.url("/a.png?sig=2&size=2"))
            let again = ImageRequest(other, named: name)
            #expect(try await fetch(again, by: second).failures.isEmpty)
            #expect(second.origin.requests().isEmpty)
            #expect(first.origin.requests().count == 1)
            #expect(second.cache.url(of: again.key) == name.string)
            // The entry's origin is asked by the URL that this machine knows.
            let details = second.cache.details(of: again.key)
            #expect(details.source == other.string)
        }
    }

    /// The rule of the machine that put it there may be a mistake.
    @Test func anotherMachinesRuleDecidesNothingHere() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let origin = try ScriptedOrigin(in: scope)
            let name = ImageRequest(try CacheURL(origin.url("/a.png")))
            let fields = store.fields(name, image).withDefaults(["x-amz-meta-left-out": "w"])
            store.server.route(store.path(name)) { [image] request in
                request.method == "PUT" ? .answer(200) : .answer(headers: fields, body: image)
            }
            for (rules, hits) in [("", 0), ("127.0.0.1:w", 1), ("127.0.0.1:x", 0)] {
                let rules = try IgnoredQueries(rules)
                let fixture = try CacheFixture(in: scope, origin: origin) {
                    $0.store = store.settings
                    $0.ignoredQueries = rules
                }
                origin.route("/a.png", .answer(headers: lasting, body: image))
                #expect(try await fetch(name, by: fixture).failures.isEmpty)
                #expect(fixture.storeCounters.hits == hits)
                await CacheFixture.drain(fixture.cache)
            }
            let put = store.server.requests(store.path(name)).last { $0.method == "PUT" }
            #expect(put?.headers["If-None-Match"] == nil)
            #expect(put?.headers["x-amz-meta-left-out"] == nil)
        }
    }

    /// Any program on the machine could name its own image like that. A part of the URL is another URL too.
    @Test func anImageUnderANameOfAnotherURLIsNotForOtherMachines() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope, mode: (true, true))
            let fixture = try fixture(store, ignoring: "127.0.0.1:sig", in: scope)
            fixture.origin.route("/mine.png", .answer(headers: lasting, body: image))
            let url = try CacheURL(fixture.origin.url("/mine.png?size=2"))
            for name in ["/logo.png", "/mine.png?id=1", "/mine.png"] {
                let request = ImageRequest(url, named: try CacheURL(fixture.origin.url(name)))
                #expect(try await fetch(request, by: fixture).failures.isEmpty)
            }
            await CacheFixture.drain(fixture.cache)
            #expect(store.server.requests().isEmpty)
        }
    }

    /// The digest of the image is known, and no entry has it.
    @Test func anImageThatNoEntryHasIsLookedForInTheStore() async throws {
        try await withTestScope { scope in
            let store = try ScriptedStore(in: scope)
            let fixture = try fixture(store, in: scope)
            let imageRequest = try fixture.imageRequest("/a.png")
            store.has(imageRequest, image)
            store.has(try fixture.imageRequest("/b.png"), image)
            #expect(try await fixture.fetch("/b.png").failures.isEmpty)
            let digest = ContentDigest(of: image)
            // An entry has the bytes, so the store is not asked.
            let known = FetchOptions(digest: digest)
            #expect(try await fixture.fetch("/c.png", options: known).failures.isEmpty)
            #expect(store.server.requests().count == 1)
            // The first bytes of the digest are those of the entry, the others are not.
            let text = digest.description.prefix(8) + String(repeating: "0", count: 56)
            let other = try #require(ContentDigest(String(text)))
            let unknown = FetchOptions(digest: other)
            #expect(try await fixture.fetch("/a.png", options: unknown).failures.isEmpty)
            #expect(store.server.requests().map(\.path).last == store.path(imageRequest))
            #expect(fixture.origin.requests().isEmpty)
            // Equal bytes of the store are one file.
            #expect(fixture.cache.details(of: imageRequest.key).names == 3)
        }
    }
}
