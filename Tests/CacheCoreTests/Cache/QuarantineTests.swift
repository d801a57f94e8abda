import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

/// Damaged files that can't be set aside or marked: this daemon never takes them for entries, with or without a watch.
@Suite("Cache: quarantine", .timeLimit(.minutes(5)))
struct DisownedTests {
    let image = SampleImage.png(byteCount: 5000)
    let headers: HeaderFields = ["ETag": "\"1\"", "Cache-Control": "max-age=1000"]

    /// A cache with one damaged image that was found and could not be marked, with or without a watch.
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
        try obstruct(fixture)
        #expect(try fixture.lookup("/a.png").isCached, "nobody has read it")
        let report = await fixture.verify()
        #expect(faults.hasStruck && report.damagedCount == 1 && report.leftCount == 1)
        return fixture
    }

    /// Keeps the file from being renamed.
    private func obstruct(_ fixture: CacheFixture) throws {
        #expect(mkdir(try fixture.file("/a.png") + ".damaged", 0o700) == 0)
    }

    /// A copy of the undamaged file, with its attributes.
    private func copy(_ fixture: CacheFixture) -> String { fixture.directory + "/copy" }

    /// Writes into the existing file.
    private func write(_ bytes: [UInt8], _ fixture: CacheFixture) throws {
        let file = open(try fixture.file("/a.png"), O_WRONLY)
        defer { close(file) }
        #expect(pwrite(file, bytes, bytes.count, 0) == bytes.count)
    }

    @Test(arguments: [true, false])
    func aQuarantinedFileIsMissingAndNotRevalidated(isWatched: Bool) async throws {
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
    func aFileThatTakesItsPlaceIsAnEntry(isWatched: Bool, isOtherFile: Bool) async throws {
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

    /// The damage was found while the origin was being asked.
    @Test func aConfirmationOfTheOriginComesTooLate() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.fremovexattr, nth: 1, .notPermitted, times: 1000)
            let fixture = try CacheFixture(in: scope, faults: faults)
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try write(image.map { ~$0 }, fixture)
            try obstruct(fixture)
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

    /// Nothing is written into a directory that was moved away, because it can come back.
    @Test func damageFoundWhileTheDirectoryIsAwayCountsOnceItIsBack() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try write(image.map { ~$0 }, fixture)
            let file = open(try fixture.file("/a.png"), O_RDONLY)
            let entry = OpenedEntry(
                key: try fixture.wish("/a.png").key, descriptor: file, isPinned: false)
            let verification = Verification(
                repairs: false, client: .daemon, onProgress: { _, _ in }, onEnd: { _, _ in })
            let away = fixture.directory + ".away"
            #expect(rename(fixture.directory, away) == 0)
            let handled = Repair(cache: fixture.cache, verification: verification).handle([
                Repair.Case(entry: entry, damage: .wrongBytes, wish: nil)
            ])
            #expect(handled.count == 1)
            #expect(rename(away, fixture.directory) == 0)
            #expect(try fixture.lookup("/a.png").isMissing)
        }
    }

    @Test(arguments: [true, false])
    func aQuarantinedFileCanBeRemoved(byName: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try await damaged(isWatched: true, in: scope)
            let removal =
                byName ? try await fixture.remove("/a.png") : await fixture.removeAll()
            #expect(removal == .nothing, "it was no entry")
            #expect(access(try fixture.file("/a.png"), F_OK) != 0)
        }
    }

    @Test func aFileThatCannotBeRemovedIsReported() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(
                .fremovexattr, nth: 1, .notPermitted, times: 1000,
                besides: FaultPlan(.unlinkat, nth: 2, .notPermitted, times: 1000))
            let fixture = try CacheFixture(in: scope, faults: faults)
            fixture.origin.route("/a.png", .answer(headers: headers, body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            try write(image.map { ~$0 }, fixture)
            try obstruct(fixture)
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
