import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

/// Damaged files that can't be marked: to this daemon they are no entries, whoever looks at them and however
/// it comes to know of changes.
@Suite("Cache: damage that can't be marked", .timeLimit(.minutes(5)))
struct DisownedTests {
    let image = SampleImage.png(byteCount: 5000)
    let headers: HeaderFields = ["ETag": "\"1\"", "Cache-Control": "max-age=1000"]

    /// A cache with one image, damaged, noticed and not marked; with or without word of what others do.
    private func damaged(isWatched: Bool, in scope: TestScope) async throws -> CacheFixture {
        let blindness = FaultPlan(.inotify, nth: 1, .tooManyOpenFiles, times: .max)
        let faults = FaultPlan(
            .fremovexattr, nth: 1, .notPermitted, times: 1000,
            besides: isWatched ? nil : blindness)
        let fixture = try CacheFixture(in: scope, faults: faults)
        fixture.cache.startScan()
        fixture.cache.waitForScan()
        fixture.origin.route("/a.png", .answer(headers: headers, body: image))
        #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        try await runSuccessfully("cp", ["-a", fixture.file("/a.png"), copy(fixture)])
        try write(image.map { ~$0 }, fixture)
        #expect(try fixture.lookup("/a.png").isCached, "nobody has read it")
        let report = await fixture.verify()
        #expect(faults.hasStruck && report.damagedCount == 1 && report.leftCount == 1)
        return fixture
    }

    /// What the file was, with its attributes.
    private func copy(_ fixture: CacheFixture) -> String { fixture.directory + "/copy" }

    /// Writes into the file that is there.
    private func write(_ bytes: [UInt8], _ fixture: CacheFixture) throws {
        let file = open(try fixture.file("/a.png"), O_WRONLY)
        defer { close(file) }
        #expect(pwrite(file, bytes, bytes.count, 0) == bytes.count)
    }

    @Test(arguments: [true, false])
    func itIsMissingAndNobodyAsksItsOriginWhetherItIsGood(isWatched: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(isWatched: isWatched, in: scope)
            #expect(try fixture.lookup("/a.png").isMissing)
            fixture.cache.startScan()
            fixture.cache.waitForScan()
            #expect(try fixture.lookup("/a.png").isMissing)
            #expect(await fixture.verify().damagedCount == 1, "it still is")
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().allSatisfy { $0.headers["If-None-Match"] == nil })
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(await fixture.verify().damagedCount == 0)
        }
    }

    @Test(arguments: [true, false], [true, false])
    func whatTakesItsPlaceIsAnEntry(isWatched: Bool, isOtherFile: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(isWatched: isWatched, in: scope)
            #expect(try fixture.lookup("/a.png").isMissing)
            if isOtherFile {
                #expect(rename(copy(fixture), try fixture.file("/a.png")) == 0)
            } else {
                try write(image, fixture)
            }
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(await fixture.verify().damagedCount == 0)
        }
    }

    /// While the origin was asked about it, it was found out.
    @Test func theOriginsWordForItComesTooLate() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.fremovexattr, nth: 1, .notPermitted, times: 1000)
            let fixture = try CacheFixture(in: scope, faults: faults)
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try write(image.map { ~$0 }, fixture)
            let gate = try Gate()
            fixture.origin.route("/a.png", [.wait(gate), .head(304, [:])])
            let waiter = fixture.cache.fetch(
                [try fixture.wish("/a.png")], FetchOptions(isRefresh: true))
            try await gate.reached()
            #expect(await fixture.verify().damagedCount == 1)
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            gate.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            let questions = fixture.origin.requests().map { $0.headers["If-None-Match"] }
            #expect(questions == [nil, "\"1\"", nil])
        }
    }

    /// Nothing is written into a directory that was moved away; it may come back.
    @Test func whatIsFoundWhileTheDirectoryIsAwayIsMissingOnceItIsBack() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try write(image.map { ~$0 }, fixture)
            let file = open(try fixture.file("/a.png"), O_RDONLY)
            let specimen = OpenedEntry(
                key: try fixture.wish("/a.png").key, descriptor: file, isPinned: false)
            let verification = Verification(
                repairs: false, client: .daemon, onProgress: { _, _ in }, onEnd: { _, _ in })
            let away = fixture.directory + ".away"
            #expect(rename(fixture.directory, away) == 0)
            let settled = Repair(cache: fixture.cache, verification: verification).settle([
                Repair.Case(specimen: specimen, damage: .wrongBytes, wish: nil)
            ])
            #expect(settled.count == 1)
            #expect(rename(away, fixture.directory) == 0)
            #expect(try fixture.lookup("/a.png").isMissing)
        }
    }

    @Test(arguments: [true, false])
    func itCanBeRemoved(byName: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(isWatched: true, in: scope)
            let removal =
                byName ? try await fixture.remove("/a.png") : await fixture.removeAll()
            #expect(removal == .nothing, "it was no entry")
            #expect(access(try fixture.file("/a.png"), F_OK) != 0)
        }
    }

    @Test func whatCannotEvenBeRemovedIsSaid() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(
                .fremovexattr, nth: 1, .notPermitted, times: 1000,
                besides: FaultPlan(.unlinkat, nth: 2, .notPermitted, times: 1000))
            let fixture = try CacheFixture(in: scope, faults: faults)
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try write(image.map { ~$0 }, fixture)
            #expect(await fixture.verify().leftCount == 1)
            let key = try fixture.wish("/a.png").key
            let failure = await withCheckedContinuation { continuation in
                fixture.cache.remove([key]) { continuation.resume(returning: $0?.failure) }
            }
            #expect(failure?.kind == .storage)
            #expect(access(try fixture.file("/a.png"), F_OK) == 0)
        }
    }
}
