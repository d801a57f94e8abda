import CacheKey
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A pin outlives damage to its file: the image is downloaded again at once, and is pinned.
@Suite("Cache: pins of damaged entries", .timeLimit(.minutes(5)))
struct DamagedPinTests {
    /// The sizes of an image that has a file without a name at first, and of one that has a partial.
    static let sizes = [5000, 200_000]

    /// A cache with one pinned image whose bytes another program has changed.
    private func damaged(_ size: Int, in scope: TestScope) async throws -> CacheFixture {
        let fixture = try CacheFixture(in: scope)
        let image = SampleImage.png(byteCount: size)
        fixture.origin.route("/a.png", .answer(body: image))
        #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        #expect(try await pin(true, fixture).isEmpty)
        let file = open(try fixture.file("/a.png"), O_WRONLY)
        defer { close(file) }
        #expect(pwrite(file, image.map { ~$0 }, image.count, 0) == image.count)
        return fixture
    }

    private func pin(_ isPinned: Bool, _ fixture: CacheFixture) async throws -> [CacheKey: Failure]
    {
        let key = try fixture.imageRequest("/a.png").key
        return await withCheckedContinuation { continuation in
            fixture.cache.pin([key], isPinned) { continuation.resume(returning: $0) }
        }
    }

    /// Whether the image is pinned once it is cached again.
    private func isPinned(_ fixture: CacheFixture, fetches: Bool = true) async throws -> Bool {
        if fetches {
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        } else {
            try await waitUntil("the image to be back") { try fixture.lookup("/a.png").isCached }
        }
        guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else { return false }
        #expect(await fixture.verify().damagedCount == 0)
        return facts.isPinned
    }

    @Test(arguments: sizes)
    func theImageIsDownloadedAgainAtOnceAndPinned(size: Int) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(size, in: scope)
            let report = await fixture.verify()
            guard case .left(let failure)? = report.damaged.first?.end else {
                Issue.record("\(report)")
                return
            }
            #expect(failure.message.hasSuffix("downloaded again because it is pinned"))
            #expect(try await isPinned(fixture, fetches: false))
            #expect(try contents(of: fixture.file("/a.png")) == SampleImage.png(byteCount: size))
            #expect(fixture.cache.statistics().pinned.entries == 1)
        }
    }

    /// The pin is in memory until then.
    @Test(arguments: sizes, [true, false])
    func aDownloadThatFailsKeepsThePin(size: Int, repairs: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(size, in: scope)
            fixture.origin.route("/a.png", .answer(404))
            #expect(await fixture.verify(repairs: repairs).leftCount == 1)
            try await waitUntil("the failure") {
                guard case .missing(let failure) = try fixture.lookup("/a.png") else {
                    return false
                }
                return failure?.kind == .http
            }
            fixture.origin.route("/a.png", .answer(body: SampleImage.png(byteCount: size)))
            let again = FetchOptions(isRefresh: true)
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], again)
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(try await isPinned(fixture))
        }
    }

    @Test(arguments: sizes)
    func aTruncatedFileKeepsItsPin(size: Int) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(size, in: scope)
            #expect(truncate(try fixture.file("/a.png"), 100) == 0)
            #expect(try fixture.lookup("/a.png").isMissing)
            #expect(try await isPinned(fixture))
        }
    }

    @Test(arguments: sizes, [true, false])
    func unpinningOrRemovingADamagedEntryEndsItsPin(size: Int, isRemoved: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(size, in: scope)
            let gate = try Gate()
            let image = SampleImage.png(byteCount: size)
            fixture.origin.route("/a.png", .gated(image, after: 100, gate))
            #expect(await fixture.verify().leftCount == 1)
            try await gate.reached()
            if isRemoved {
                _ = try await fixture.remove("/a.png")
            } else {
                #expect(try await pin(false, fixture).isEmpty)
            }
            fixture.origin.route("/a.png", .answer(body: image))
            gate.open()
            #expect(try await !isPinned(fixture))
        }
    }

    /// Otherwise another user could fill the cache with files that are never evicted.
    @Test(.enabled(if: geteuid() == 0, "only root can give files away"), arguments: sizes)
    func aFileOfAnotherUserPinsNothing(size: Int) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(size, in: scope)
            #expect(chown(try fixture.file("/a.png"), 65534, 65534) == 0)
            #expect(try fixture.lookup("/a.png").isMissing)
            #expect(try await !isPinned(fixture))
        }
    }
}
