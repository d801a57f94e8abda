import CacheKey
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

/// A pin outlives damage to its file: the image that takes the file's place is pinned again.
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
        let key = try fixture.wish("/a.png").key
        return await withCheckedContinuation { continuation in
            fixture.cache.pin([key], isPinned) { continuation.resume(returning: $0) }
        }
    }

    private func isPinned(_ fixture: CacheFixture) async throws -> Bool {
        #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else { return false }
        #expect(await fixture.verify().damagedCount == 0)
        return facts.isPinned
    }

    @Test(arguments: sizes)
    func theImageDownloadedAgainIsPinned(size: Int) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(size, in: scope)
            for _ in 0..<2 { #expect(await fixture.verify().leftCount == 1) }
            #expect(try fixture.lookup("/a.png").isMissing)
            #expect(try await isPinned(fixture))
        }
    }

    @Test(arguments: sizes)
    func theNextDaemonKnowsThePin(size: Int) async throws {
        try await withTestScope { scope in
            let first = try await damaged(size, in: scope)
            #expect(await first.verify().leftCount == 1)
            await CacheFixture.drain(first.cache)
            let next = try CacheFixture(in: scope, directory: first.directory, origin: first.origin)
            #expect(try next.lookup("/a.png").isMissing)
            #expect(try await isPinned(next))
        }
    }

    /// The image is published before any scan has seen the damaged file.
    @Test(arguments: sizes)
    func theNextDaemonKnowsThePinBeforeItsScan(size: Int) async throws {
        try await withTestScope { scope in
            let first = try await damaged(size, in: scope)
            #expect(await first.verify().leftCount == 1)
            await CacheFixture.drain(first.cache)
            let blindness = FaultPlan(.getdents, nth: 1, .ioError, times: .max)
            let next = try CacheFixture(
                in: scope, directory: first.directory, origin: first.origin, faults: blindness)
            #expect(try await next.fetch("/a.png").failures.isEmpty)
            guard case .cached(let facts, _, _) = try next.lookup("/a.png") else {
                Issue.record("it is not cached")
                return
            }
            #expect(facts.isPinned)
            // The third daemon takes the pin from the file, and forgets the damaged one.
            await CacheFixture.drain(next.cache)
            let last = try CacheFixture(in: scope, directory: first.directory, origin: first.origin)
            last.cache.waitForScan()
            #expect(try await isPinned(last))
            let path = try last.file("/a.png") + ".damaged"
            try await waitUntil("the damaged file to be gone") { access(path, F_OK) != 0 }
        }
    }

    @Test(arguments: sizes)
    func aRepairThatFailsKeepsThePin(size: Int) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(size, in: scope)
            let image = SampleImage.png(byteCount: size)
            fixture.origin.route("/a.png", .answer(404))
            #expect(await fixture.verify(repairs: true).leftCount == 1)
            fixture.origin.route("/a.png", .answer(body: image))
            let report = await fixture.verify(repairs: true)
            #expect(report.damagedCount == 1 && report.leftCount == 0)
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
            #expect(await fixture.verify().leftCount == 1)
            if isRemoved {
                _ = try await fixture.remove("/a.png")
            } else {
                #expect(try await pin(false, fixture).isEmpty)
            }
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
