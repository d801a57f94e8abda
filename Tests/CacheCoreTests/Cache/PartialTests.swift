import CLinux
import CacheSamples
import CacheValues
import Glibc
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Partial downloads in the directory: their records, their owners and their age.
@Suite("Cache: partials", .timeLimit(.minutes(5)))
struct PartialTests {
    // MARK: While a download runs

    @Test(
        arguments: [
            (
                ["ETag": "\"1\""],
                "v1 total=200000 boot=\(BootID.current) fresh= guessed=1 etag=\"1\""
            ),
            (
                ["ETag": "\"1\"", "Cache-Control": "max-age=9, must-revalidate"],
                "v1 total=200000 boot=\(BootID.current) fresh= lifetime=9 strict=1 etag=\"1\""
            ),
            (["ETag": "W/\"1\""], nil),
            ([:], nil),
            (["ETag": "\"1\"", "Cache-Control": "no-store"], nil),
            (
                ["Last-Modified": Sample.date(-60), "Date": Sample.date(0)],
                "v1 total=200000 boot=\(BootID.current) fresh= guessed=1 modified=1789999940"
            ),
            (["Last-Modified": Sample.date(0), "Date": Sample.date(0)], nil),
        ] as [(HeaderFields, String?)])
    func theRecordShowsWhetherThePartialCanBeResumed(headers: HeaderFields, record: String?)
        async throws
    {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route(
                "/a.png", .gated(ResumingTests.image, after: 1000, gate, headers: headers))
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.received == 1000 }
            let attributes = ExtendedAttributes(of: try fixture.partial("/a.png"))
            let timeless = try attributes[PartialRecord.attributeName]?
                .replacing(/fresh=\d+/, with: "fresh=")
            #expect(timeless == record)
            gate.open()
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            try fixture.expectEntry(ResumingTests.image)
        }
    }

    @Test func aDownloadThatIsNearlyCompleteFinishesWithoutACaller() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route("/a.png", .gated(ResumingTests.image, after: 190_000, gate))
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.received == 190_000 }
            fixture.cache.leave(waiter)
            gate.open()
            try await fixture.lookup("/a.png") { $0.isCached }
            #expect(fixture.origin.requests().count == 1)
        }
    }

    /// The length in the head counts, although no byte of the body arrived.
    @Test func aSmallDownloadFinishesWithoutACallerEvenBeforeItsFirstByte() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            fixture.origin.route(
                "/a.png", .gated(SampleImage.png(byteCount: 9000), after: 0, gate))
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.total == 9000 }
            fixture.cache.leave(waiter)
            gate.open()
            try await fixture.lookup("/a.png") { $0.isCached }
            #expect(fixture.origin.requests().count == 1)
        }
    }

    /// A small partial gets its record only when the download is abandoned.
    @Test(arguments: [false, true])
    func anAbandonedDownloadCanBeResumedUnlessStoringIsForbidden(isStored: Bool) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let gate = try Gate()
            let headers: HeaderFields = [
                "ETag": "\"1\"", "Cache-Control": isStored ? "max-age=9" : "no-store",
            ]
            fixture.origin.route(
                "/a.png",
                .gated(SampleImage.png(byteCount: 60_000), after: 1000, gate, headers: headers))
            let waiter = fixture.cache.fetch([try fixture.imageRequest("/a.png")], FetchOptions())
            try await fixture.lookup("/a.png") { $0.progress?.received == 1000 }
            let partial = ExtendedAttributes(of: try fixture.partial("/a.png"))
            #expect(try fixture.hasPartial("/a.png"))
            fixture.cache.leave(waiter)
            try await waitUntil("the download to be over") {
                isStored
                    ? try partial[PartialRecord.attributeName] != nil
                    : try !fixture.hasPartial("/a.png")
            }
            gate.open()
        }
    }

    // MARK: Hostile partials

    enum Hostile: CaseIterable {
        case symbolicLink, hardLink, fifo, noRecord, garbledRecord, tooLong, othersOwn
    }

    @Test(arguments: Hostile.allCases)
    func aForeignFileIsNeitherResumedNorWrittenTo(hostile: Hostile) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let precious = try TemporaryDirectory(in: scope).file("precious")
            try fixture.leavePartial(
                "/a.png", ResumingTests.image[..<ResumingTests.half], of: 200_000)
            try make(hostile, fixture.partial("/a.png"), precious, fixture)
            fixture.origin.route("/a.png") { .ranged(ResumingTests.other, for: $0) }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().map(\.firstOfRange) == [nil])
            try fixture.expectEntry(ResumingTests.other)
            if access(precious, F_OK) == 0 {
                #expect(
                    try contents(of: precious) == Array(ResumingTests.image[..<ResumingTests.half]))
            }
        }
    }

    private func make(
        _ hostile: Hostile, _ path: String, _ precious: String, _ fixture: CacheFixture
    ) throws {
        switch hostile {
        case .symbolicLink:
            #expect(rename(path, precious) == 0)
            #expect(symlink(precious, path) == 0)
        case .hardLink: #expect(link(path, precious) == 0)
        case .fifo:
            #expect(unlink(path) == 0)
            #expect(mkfifo(path, 0o600) == 0)
        case .noRecord: #expect(removexattr(path, PartialRecord.attributeName) == 0)
        case .garbledRecord:
            try fixture.setPartialRecord(
                "v1 total=200000 boot=\(BootID.current) etag=\"1", of: path)
        case .tooLong:
            try fixture.setPartialRecord(
                "v1 total=99999 boot=\(BootID.current) etag=\"1\"", of: path)
        case .othersOwn:
            // Only root can change the owner of a file.
            guard chown(path, 1, 1) == 0 else {
                return try make(.noRecord, path, precious, fixture)
            }
        }
    }

    // MARK: Age

    @Test func aPartialUnusedForADayIsRemoved() async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope)
            try folder.directory("cache")
            let now = FileTime.now
            // A time in the future comes from a wrong clock, so the age is unknown.
            let daysAgo = [1, 0, -1].map {
                FileTime(nanoseconds: now.nanoseconds - $0 * 86_401_000_000_000).specification
            }
            let files = try ["old", "new", "ahead"].map {
                try folder.write($0, to: "cache/\(Sample.key($0)).part")
            }
            for (file, time) in zip(files, daysAgo) {
                #expect(utimensat(AT_FDCWD, file, [time, time], 0) == 0)
            }
            let fixture = try CacheFixture(in: scope, directory: folder.file("cache"))
            for file in [files[0], files[2]] {
                try await waitUntil("\(file) to go") { access(file, F_OK) != 0 }
            }
            #expect(access(files[1], F_OK) == 0)
            #expect(fixture.cache.statistics().partials == 1)
            let tomorrow = FileTime(nanoseconds: now.nanoseconds + 86_400_000_000_000)
            fixture.cache.discardOldPartials(now: tomorrow)
            try await waitUntil("the other to go") { access(files[1], F_OK) != 0 }
        }
    }
}
