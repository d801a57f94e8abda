import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

/// A file that a verification finds damaged loses its name: nobody reads its bytes as those of the image.
@Suite("Cache: damaged files", .timeLimit(.minutes(5)))
struct DamagedFileTests {
    private let image = SampleImage.png(byteCount: 50_000)

    /// A cache with an image `/a.png` that was found damaged, and an intact one, `/b.png`.
    private func damaged(in scope: TestScope, isPinned: Bool = false) async throws -> CacheFixture {
        let fixture = try CacheFixture(in: scope)
        for path in ["/a.png", "/b.png"] {
            fixture.origin.route(path, .answer(body: image))
            #expect(try await fixture.fetch(path).failures.isEmpty)
        }
        if isPinned { await pin(true, fixture) }
        let file = open(try fixture.file("/a.png"), O_WRONLY)
        defer { close(file) }
        #expect(pwrite(file, "x", 1, 1000) == 1)
        #expect(await fixture.verify().damagedCount == 1)
        return fixture
    }

    private func pin(_ isPinned: Bool, _ fixture: CacheFixture) async {
        let failures = await withCheckedContinuation { continuation in
            do {
                fixture.cache.pin([try fixture.wish("/a.png").key], isPinned) {
                    continuation.resume(returning: $0)
                }
            } catch {
                continuation.resume(returning: [:])
            }
        }
        #expect(failures.isEmpty)
    }

    private func damagedPath(_ fixture: CacheFixture) throws -> String {
        try fixture.file("/a.png") + ".damaged"
    }

    private func isSetAside(_ fixture: CacheFixture) throws -> Bool {
        access(try damagedPath(fixture), F_OK) == 0
    }

    private func evict(_ fixture: CacheFixture, to bytes: Int64) async -> Removal {
        await withCheckedContinuation { continuation in
            fixture.cache.evict(toBytes: bytes) { removal, _ in
                continuation.resume(returning: removal)
            }
        }
    }

    /// The bytes that the cache counts are those on the disk.
    private func expectTrueFigures(_ fixture: CacheFixture) async throws {
        try await waitUntil("the figures to agree") {
            let usage = try DirectoryUsage(of: fixture.directory)
            let figures = fixture.cache.statistics()
            return figures.bytesUsed == usage.bytes && figures.entries == usage.entries
        }
    }

    @Test func theNameIsFreeAndTheFileCanBeExamined() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            #expect(access(try fixture.file("/a.png"), F_OK) != 0)
            var expected = image
            expected[1000] = UInt8(ascii: "x")
            #expect(try contents(of: damagedPath(fixture)) == expected)
            let attributes = ExtendedAttributes(of: try damagedPath(fixture))
            #expect(try attributes["user.xdg.origin.url"] == fixture.origin.url("/a.png"))
            #expect(try fixture.lookup("/a.png").isMissing)
            #expect(try fixture.lookup("/b.png").isCached)
            try await expectTrueFigures(fixture)
            #expect(fixture.cache.statistics().bytesUsed > 100_000)
        }
    }

    @Test func aDownloadTakesTheNameAndRemovesTheDamagedFile() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            try await waitUntil("the damaged file to be gone") { try !isSetAside(fixture) }
            try await expectTrueFigures(fixture)
        }
    }

    @Test func laterVerificationsReportItUntilItIsRepaired() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            let again = await fixture.verify()
            #expect(again.total == 2 && again.damaged.map(\.damage) == [.setAside])
            #expect(again.damaged.first?.url == fixture.origin.url("/a.png"))
            let repair = await fixture.verify(repairs: true)
            #expect(repair.damagedCount == 1 && repair.leftCount == 0)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(await fixture.verify().damagedCount == 0)
        }
    }

    @Test func aRepairRemovesItIfItsURLIsLost() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            #expect(removexattr(try damagedPath(fixture), "user.xdg.origin.url") == 0)
            #expect(await fixture.verify(repairs: true).leftCount == 0)
            #expect(try !isSetAside(fixture))
            try await expectTrueFigures(fixture)
        }
    }

    @Test func itIsEvictedFirst() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            #expect(await evict(fixture, to: 90_000).entries == 0)
            #expect(try !isSetAside(fixture))
            #expect(try fixture.lookup("/b.png").isCached)
            try await expectTrueFigures(fixture)
        }
    }

    @Test func itStaysForADay() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            _ = fixture.cache.statistics()
            let now = FileTime.now.nanoseconds
            for (hours, isThere) in [(23, true), (25, false)] {
                let later = FileTime(nanoseconds: now + Int64(hours) * 3_600_000_000_000)
                fixture.cache.discardOldDamagedFiles(now: later)
                await fixture.afterDirectoryWork()
                #expect(try isSetAside(fixture) == isThere, "\(hours) h")
            }
        }
    }

    @Test func aPinKeepsItUntilTheImageIsBack() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope, isPinned: true)
            _ = await evict(fixture, to: 0)
            let later = FileTime(nanoseconds: FileTime.now.nanoseconds + 100_000_000_000_000)
            fixture.cache.discardOldDamagedFiles(now: later)
            await fixture.afterDirectoryWork()
            _ = await fixture.removeAll()
            #expect(try isSetAside(fixture))
            try await expectTrueFigures(fixture)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try await waitUntil("the damaged file to be gone") { try !isSetAside(fixture) }
            guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else {
                Issue.record("it is not cached")
                return
            }
            #expect(facts.isPinned)
        }
    }

    @Test func unpinningMakesItOneLikeAllOthers() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope, isPinned: true)
            await pin(false, fixture)
            #expect(try isSetAside(fixture))
            _ = await evict(fixture, to: 90_000)
            #expect(try !isSetAside(fixture))
        }
    }

    @Test(arguments: [true, false])
    func aRemovalRemovesItToo(byName: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope, isPinned: byName)
            let removal =
                byName ? try await fixture.remove("/a.png") : await fixture.removeAll()
            #expect(removal.entries == (byName ? 0 : 1), "it was no entry")
            #expect(try !isSetAside(fixture))
            try await expectTrueFigures(fixture)
        }
    }

    @Test func theNextDaemonCountsIt() async throws {
        try await withTestScope { scope in
            let first = try await damaged(in: scope)
            await CacheFixture.drain(first.cache)
            let next = try CacheFixture(in: scope, directory: first.directory, origin: first.origin)
            next.cache.waitForScan()
            try await expectTrueFigures(next)
            #expect(next.cache.statistics().entries == 1)
            #expect(await evict(next, to: 90_000).entries == 0)
            #expect(try !isSetAside(next))
        }
    }

    /// A truncated file is no entry for anyone who asks; but who only opens the name must not find it either.
    @Test(arguments: ["cut", "without record", "a link"])
    func whatIsNoEntryLosesItsNameToo(kind: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let (path, key) = (try fixture.file("/a.png"), try fixture.wish("/a.png").key)
            switch kind {
            case "cut": #expect(truncate(path, 5) == 0)
            case "a link":
                #expect(unlink(path) == 0)
                #expect(symlink("/dev/null", path) == 0)
            default: #expect(removexattr(path, EntryRecord.attributeName(of: key)) == 0)
            }
            #expect(await fixture.verify().leftCount == 1)
            var status = stat()
            #expect(lstat(path, &status) != 0)
            #expect(lstat(path + ".damaged", &status) == 0)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: path) == image)
        }
    }

    /// Only if the file can't be renamed it stays, as a file that is no entry.
    @Test func aFileThatCannotBeRenamedIsMarked() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let file = open(try fixture.file("/a.png"), O_WRONLY)
            defer { close(file) }
            #expect(pwrite(file, "x", 1, 1000) == 1)
            #expect(mkdir(try damagedPath(fixture), 0o700) == 0)
            #expect(await fixture.verify().leftCount == 1)
            #expect(try fixture.lookup("/a.png").isMissing)
            #expect(access(try fixture.file("/a.png"), F_OK) == 0)
            let key = try fixture.wish("/a.png").key
            let attributes = ExtendedAttributes(of: try fixture.file("/a.png"))
            #expect(try attributes[EntryRecord.attributeName(of: key)] == nil)
        }
    }
}

extension CacheFixture {
    /// Waits until the work on the directory that is queued so far is done.
    fileprivate func afterDirectoryWork() async {
        await withCheckedContinuation { continuation in
            cache.afterDirectoryWork { continuation.resume() }
        }
    }
}
