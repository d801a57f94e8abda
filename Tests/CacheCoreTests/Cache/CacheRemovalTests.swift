import CacheKey
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Cache: removal and draining", .timeLimit(.minutes(5)))
struct CacheRemovalTests {
    let image = SampleImage.png(byteCount: 5000)

    @Test func aRemovalEndsWhenTheFileIsGone() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            for _ in 0..<20 {
                _ = try await fixture.fetch("/a.png")
                let removal = try await fixture.remove("/a.png", "/b.png")
                #expect(removal.entries == 1)
                #expect(removal.bytes >= 5000)
                #expect(access(try fixture.file("/a.png"), F_OK) != 0)
                #expect(try fixture.lookup("/a.png") == .missing(nil))
            }
        }
    }

    @Test func doesNotReportAnUnremovableFileAsRemoved() async throws {
        try await withTestScope { scope in
            // The first unlink is that of the name which opening the directory tries. Several later
            // ones fail, because the cache can unlink partials too.
            let faults = FaultPlan(.unlinkat, nth: 2, .notPermitted, times: 1000)
            let fixture = try CacheFixture(in: scope, faults: faults)
            for name in ["/a.png", "/b.png"] {
                fixture.origin.route(name, .answer(body: image))
                #expect(try await fixture.fetch(name).failures.isEmpty)
            }
            #expect(try await fixture.remove("/a.png", "/b.png") == .nothing)
            #expect(faults.hasStruck)
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(try fixture.lookup("/b.png").isCached)
        }
    }

    /// The removal can hit a queued, running, publishing or cached image.
    @Test func removingADownloadLeavesNoFile() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            for round in 0..<60 {
                let waiter = fixture.cache.fetch(
                    [try fixture.imageRequest("/a.png")], FetchOptions())
                for _ in 0..<round * 20 where try fixture.lookup("/a.png").isMissing { break }
                if round % 3 == 0 {
                    try await fixture.lookup("/a.png") { $0.progress?.phase != .connecting }
                }
                _ = try await fixture.remove("/a.png")
                #expect(access(try fixture.file("/a.png"), F_OK) != 0, "round \(round)")
                #expect(try fixture.lookup("/a.png").isMissing, "round \(round)")
                _ = try await fixture.outcome(of: waiter)
            }
        }
    }

    @Test func drainingRemovesNothingAndReportsNoRemoval() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            _ = try await fixture.fetch("/a.png")
            await CacheFixture.drain(fixture.cache)
            let key = try fixture.imageRequest("/a.png").key
            let removal = await withCheckedContinuation { continuation in
                fixture.cache.remove([key]) { continuation.resume(returning: $0?.gone) }
            }
            #expect(removal == nil)
            #expect(access(try fixture.file("/a.png"), F_OK) == 0)
        }
    }

    @Test func removingByPrefixRemovesEntriesAndDownloads() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            for name in ["/x/a.png", "/x/b.png", "/y/c.png"] {
                fixture.origin.route(name, .answer(body: image))
            }
            fixture.origin.route("/x/d.png", .gated(image, after: 100, gate))
            _ = try await fixture.fetch("/x/a.png", "/x/b.png", "/y/c.png")
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/x/d.png")], FetchOptions())
            try await gate.reached()
            let removal = await fixture.removeAll(prefix: fixture.origin.url("/x/"))
            #expect(removal.entries == 2)
            #expect(try await fixture.outcome(of: waiter).failures.values.first == .removed)
            #expect(try fixture.lookup("/y/c.png").isCached)
            #expect(await fixture.removeAll().entries == 1)
            #expect(fixture.cache.statistics().entries == 0)
            #expect(fixture.cache.statistics().bytesUsed == 0)
        }
    }

    @Test func drainingKeepsPartialsAndNotifiesWaiters() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(image, after: 1234, gate))
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.received == 1234 }
            await CacheFixture.drain(fixture.cache)
            let failures = try await fixture.outcome(of: waiter).failures
            #expect(failures.values.map(\.kind) == [.shuttingDown])
            #expect(try contents(of: fixture.file("/a.png") + ".part").count == 1234)
            #expect(access(try fixture.file("/a.png"), F_OK) != 0)
        }
    }

    @Test func drainingPublishesStagedImages() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let names = (0..<40).map { "/\($0).png" }
            for name in names { fixture.origin.route(name, .answer(body: image)) }
            let imageRequests = try names.map { try fixture.imageRequest($0) }
            #expect(fixture.cache.fetchDetached(imageRequests, FetchOptions()))
            try await fixture.lookup(names[0]) { $0.isCached || $0.progress?.phase == .publishing }
            await CacheFixture.drain(fixture.cache)
            for name in names {
                // The batch is published or not as a whole, and no download is left.
                let lookup = try fixture.lookup(name)
                #expect(lookup.progress == nil)
                let isThere = access(try fixture.file(name), F_OK) == 0
                #expect(lookup.isCached == isThere)
            }
            #expect(try fixture.lookup(names[0]).isCached)
        }
    }
}
