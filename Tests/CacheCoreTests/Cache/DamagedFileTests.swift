import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// A file that a verification finds damaged is removed, so no program reads its bytes as those of the image.
@Suite("Cache: damaged files", .timeLimit(.minutes(5)))
struct DamagedFileTests {
    private let image = SampleImage.png(byteCount: 50_000)
    private let headers: HeaderFields = ["ETag": "\"1\"", "Cache-Control": "max-age=1000"]

    /// A cache with an image `/a.png` whose bytes another program has changed, and an intact one, `/b.png`.
    private func damaged(
        in scope: TestScope, faults: FaultPlan? = nil
    ) async throws -> CacheFixture {
        let fixture = try CacheFixture(in: scope, faults: faults)
        for path in ["/a.png", "/b.png"] {
            fixture.origin.route(path, .answer(headers: headers, body: image))
            #expect(try await fixture.fetch(path).failures.isEmpty)
        }
        let file = open(try fixture.file("/a.png"), O_WRONLY)
        defer { close(file) }
        #expect(pwrite(file, "x", 1, 1000) == 1)
        #expect(try fixture.lookup("/a.png").isCached, "nobody has read it")
        return fixture
    }

    private func isThere(_ fixture: CacheFixture) throws -> Bool {
        var status = stat()
        return lstat(try fixture.file("/a.png"), &status) == 0
    }

    /// The bytes that the cache counts are those on the disk.
    private func expectTrueFigures(_ fixture: CacheFixture) async throws {
        try await waitUntil("the figures to agree") {
            let usage = try DirectoryUsage(of: fixture.directory)
            let figures = fixture.cache.statistics()
            return figures.bytesUsed == usage.bytes && figures.entries == usage.entries
        }
    }

    @Test func theFileIsRemovedAndTheReportSaysSo() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            let report = await fixture.verify()
            #expect(report.damaged.map(\.damage) == [.wrongBytes] && report.leftCount == 1)
            guard case .left(let failure)? = report.damaged.first?.end else {
                Issue.record("\(report)")
                return
            }
            #expect(failure.kind == .damaged)
            #expect(failure.message.hasSuffix("their SHA-256 differs; its file was removed"))
            #expect(try !isThere(fixture))
            #expect(try fixture.lookup("/a.png").isMissing)
            #expect(try fixture.lookup("/b.png").isCached)
            try await expectTrueFigures(fixture)
            #expect(await fixture.verify().damagedCount == 0)
        }
    }

    @Test func theNextFetchDownloadsTheImage() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            #expect(await fixture.verify().damagedCount == 1)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(fixture.origin.requests().allSatisfy { $0.headers["If-None-Match"] == nil })
            try await expectTrueFigures(fixture)
        }
    }

    @Test func aRepairDownloadsTheImage() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            let report = await fixture.verify(repairs: true)
            #expect(report.damagedCount == 1 && report.leftCount == 0)
            #expect(try contents(of: fixture.file("/a.png")) == image)
        }
    }

    @Test func aRepairOnlyRemovesAFileWhoseURLIsLost() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            _ = try await ExtendedAttributes.all(of: try fixture.file("/a.png"))
            #expect(removexattr(try fixture.file("/a.png"), "user.xdg.origin.url") == 0)
            let report = await fixture.verify(repairs: true)
            #expect(report.damaged.map(\.end) == [.removed] && report.leftCount == 0)
            #expect(try !isThere(fixture))
        }
    }

    /// A truncated file is no entry for anyone who asks; but who only opens the name must not find it either.
    @Test(arguments: ["cut", "without record", "a link"])
    func whatIsNoEntryIsRemovedToo(kind: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let (path, key) = (try fixture.file("/a.png"), try fixture.imageRequest("/a.png").key)
            switch kind {
            case "cut": #expect(truncate(path, 5) == 0)
            case "a link":
                #expect(unlink(path) == 0)
                #expect(symlink("/dev/null", path) == 0)
            default: #expect(removexattr(path, EntryRecord.attributeName(of: key)) == 0)
            }
            #expect(await fixture.verify().leftCount == 1)
            #expect(try !isThere(fixture))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: path) == image)
        }
    }

    /// In a directory that allows no removal, for example.
    @Test(arguments: [true, false])
    func aFileThatCannotBeRemovedIsNoEntry(repairs: Bool) async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.unlinkat, nth: 1, .notPermitted, times: .max)
            let fixture = try await damaged(in: scope, faults: faults)
            let report = await fixture.verify(repairs: repairs)
            #expect(faults.hasStruck && report.leftCount == 1)
            guard case .left(let failure)? = report.damaged.first?.end else {
                Issue.record("\(report)")
                return
            }
            #expect(failure.message.contains("its file cannot be removed"))
            #expect(try isThere(fixture))
            #expect(try fixture.lookup("/a.png").isMissing)
            await CacheFixture.drain(fixture.cache)
            let next = try CacheFixture(
                in: scope, directory: fixture.directory, origin: fixture.origin)
            #expect(try next.lookup("/a.png").isMissing)
        }
    }

    /// Nothing is changed in a directory that was moved away, because it can come back.
    @Test func aFileOfAnotherDirectoryIsLeftAlone() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            let file = open(try fixture.file("/a.png"), O_RDONLY)
            let entry = OpenedEntry(
                key: try fixture.imageRequest("/a.png").key, descriptor: file, isPinned: false)
            let verification = Verification(
                repairs: false, client: .daemon, onProgress: { _, _ in }, onEnd: { _, _ in })
            let away = fixture.directory + ".away"
            #expect(rename(fixture.directory, away) == 0)
            let handled = Repair(
                cache: fixture.cache, run: VerificationRun([verification])
            ).handle([
                Repair.Case(entry: entry, damage: .wrongBytes, request: nil)
            ])
            #expect(handled.count == 1)
            #expect(rename(away, fixture.directory) == 0)
            #expect(try isThere(fixture))
        }
    }

    @Test func aFileThatTookItsPlaceIsLeftAlone() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            let path = try fixture.file("/a.png")
            let entry = OpenedEntry(
                key: try fixture.imageRequest("/a.png").key, descriptor: open(path, O_RDONLY),
                isPinned: false)
            try await runSuccessfully("cp", ["-a", path, path + ".copy"])
            #expect(rename(path + ".copy", path) == 0)
            try fixture.cache.directory.removeDamaged(entry)
            #expect(try isThere(fixture))
        }
    }

    /// The damage was found while the origin was being asked.
    @Test func aConfirmationOfTheOriginComesTooLate() async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", [.wait(gate), .head(304, [:])])
            let waiter = fixture.cache.fetch(
                [try fixture.imageRequest("/a.png")], FetchOptions(isRefresh: true))
            try await gate.reached()
            #expect(await fixture.verify().damagedCount == 1)
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            gate.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            let questions = fixture.origin.requests().map { $0.headers["If-None-Match"] }
            #expect(questions == [nil, nil, "\"1\"", nil])
        }
    }
}
