import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Directories whose file system keeps no user attributes: records stay in memory, and are lost with the daemon.
@Suite("Cache: without attributes", .timeLimit(.minutes(5)))
struct WithoutAttributesTests {
    let image = SampleImage.png(width: 30, height: 20, byteCount: 20_000)

    /// The place of the directory.
    enum Place: CaseIterable {
        /// On a real file system without user attributes.
        case ramfs
        /// On one that refuses them like tmpfs before Linux 6.6.
        case refusing

        static let all = SmallFileSystem.obstacle == nil ? allCases : [.refusing]

        func directory(in scope: TestScope) async throws -> String {
            switch self {
            case .refusing: return try TemporaryDirectory(in: scope).file("cache")
            case .ramfs:
                let path = try TemporaryDirectory(in: scope).path
                try await runSuccessfully("mount", ["-t", "ramfs", "none", path])
                scope.atEnd { try await runSuccessfully("umount", ["--lazy", path]) }
                return "\(path)/cache"
            }
        }

        var faults: FaultPlan? {
            self == .refusing ? FaultPlan(.fsetxattr, nth: 1, .notSupported, times: .max) : nil
        }
    }

    /// A cache in the directory.
    private func cache(
        _ place: Place, _ directory: String, _ origin: ScriptedOrigin? = nil, in scope: TestScope,
        _ change: (inout CacheSettings) -> Void = { _ in }
    ) throws -> CacheFixture {
        let fixture = try CacheFixture(
            in: scope, directory: directory, origin: origin, faults: place.faults
        ) { settings in
            settings.limits.minimumFree = 0
            change(&settings)
        }
        #expect(fixture.cache.directory.records is MemoryRecords)
        return fixture
    }

    /// A cache that has fetched the image, which the origin sent with these fields.
    private func filled(
        _ place: Place, _ directory: String, _ origin: ScriptedOrigin,
        _ headers: HeaderFields = [:], in scope: TestScope,
        _ change: (inout CacheSettings) -> Void = { _ in }
    ) async throws -> CacheFixture {
        let fixture = try cache(place, directory, origin, in: scope, change)
        origin.route("/a.png", .answer(headers: headers, body: image))
        #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        return fixture
    }

    private func facts(_ fixture: CacheFixture) throws -> EntryFacts {
        guard case .cached(let facts, _, _) = try fixture.lookup("/a.png") else {
            throw TestFailure("the image is not cached")
        }
        return facts
    }

    private func expectTheImage(_ facts: EntryFacts) {
        #expect(facts.mediaType == .png)
        #expect(facts.width == 30 && facts.height == 20)
        #expect(facts.size == 20_000)
    }

    // MARK: While the daemon runs

    @Test(arguments: Place.all)
    func theFactsOfADownloadStayWhateverIsProbed(place: Place) async throws {
        try await withTestScope { scope in
            let directory = try await place.directory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let fixture = try await filled(
                place, directory, origin, ["Cache-Control": "max-age=500"], in: scope)
            for _ in 0..<2 {
                let facts = try facts(fixture)
                expectTheImage(facts)
                // The second of the request counts as age if the response comes in the next one.
                let lifetime = facts.freshUntil.map { $0 - facts.fetchedAt } ?? 0
                #expect((499...500).contains(lifetime))
                fixture.cache.watchDirectory()
                _ = fixture.cache.startScan()
                fixture.cache.waitForScan()
            }
        }
    }

    @Test(arguments: Place.all)
    func aStaleImageIsConfirmedByItsOrigin(place: Place) async throws {
        try await withTestScope { scope in
            let directory = try await place.directory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let fixture = try await filled(
                place, directory, origin, ["Cache-Control": "max-age=0", "ETag": "\"1\""],
                in: scope)
            origin.route("/a.png", [.head(304, ["Cache-Control": "max-age=1000"])])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(origin.requests().last?.headers["If-None-Match"] == "\"1\"")
            #expect(fixture.cache.statistics().revalidated == 1)
            // The confirmation counts.
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(origin.requests().count == 2)
            expectTheImage(try facts(fixture))
        }
    }

    @Test(arguments: Place.all)
    func aNoStoreImageIsNeverAHitAndRemoved(place: Place) async throws {
        try await withTestScope { scope in
            let directory = try await place.directory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let fixture = try await filled(
                place, directory, origin, ["Cache-Control": "no-store"], in: scope
            ) { $0.transfers.caching.noStoreGrace = 2 }
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(origin.requests().count == 2)
            #expect(fixture.cache.statistics().hits == 0)
            let file = try fixture.file("/a.png")
            try await waitUntil("the removal of the file and its mark") {
                access(file, F_OK) != 0 && access("\(file).unstorable", F_OK) != 0
            }
        }
    }

    @Test(arguments: Place.all)
    func anotherFileUnderTheNameHasItsOwnFacts(place: Place) async throws {
        try await withTestScope { scope in
            let directory = try await place.directory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let fixture = try await filled(place, directory, origin, in: scope)
            let other = SampleImage.png(width: 7, height: 5, byteCount: 20_000)
            let source = try TemporaryDirectory(in: scope).write(other, to: "other")
            try await runSuccessfully("cp", [source, "\(directory)/other"])
            #expect(rename("\(directory)/other", try fixture.file("/a.png")) == 0)
            let facts = try facts(fixture)
            #expect(facts.mediaType == .png)
            #expect(facts.width == 7 && facts.height == 5)
        }
    }

    // MARK: After a restart

    @Test(arguments: Place.all)
    func aLaterDaemonTellsTheTypeFromTheBytes(place: Place) async throws {
        try await withTestScope { scope in
            let directory = try await place.directory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            try await withTestScope { scope in
                _ = try await filled(place, directory, origin, in: scope)
            }
            let later = try cache(place, directory, origin, in: scope)
            later.cache.waitForScan()
            let page = later.cache.list(.recency, limit: 10, after: nil)
            #expect(page.map(\.facts.mediaType) == [.png])
            expectTheImage(try facts(later))
        }
    }

    @Test(arguments: Place.all)
    func aLaterDaemonGuessesTheFreshnessFromTheTimeOfTheFile(place: Place) async throws {
        try await withTestScope { scope in
            let directory = try await place.directory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let file = try await withTestScope { scope in
                let first = try await filled(
                    place, directory, origin, ["Cache-Control": "max-age=5"], in: scope)
                return try first.file("/a.png")
            }
            let later = try cache(place, directory, origin, in: scope) {
                $0.transfers.caching.unknownLifetime = 600
            }
            #expect(try await later.fetch("/a.png").failures.isEmpty)
            #expect(origin.requests().count == 1)
            try await runSuccessfully("touch", ["--date", "11 minutes ago", file])
            #expect(try await later.fetch("/a.png").failures.isEmpty)
            #expect(origin.requests().count == 2)
            #expect(origin.requests().last?.headers["If-None-Match"] == nil)
        }
    }

    @Test(arguments: Place.all)
    func aLaterDaemonRemovesANoStoreImageAtItsStart(place: Place) async throws {
        try await withTestScope { scope in
            let directory = try await place.directory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let file = try await withTestScope { scope in
                let first = try await filled(
                    place, directory, origin, ["Cache-Control": "no-store"], in: scope)
                return try first.file("/a.png")
            }
            #expect(access(file, F_OK) == 0)
            let later = try cache(place, directory, origin, in: scope)
            #expect(access(file, F_OK) != 0)
            #expect(access("\(file).unstorable", F_OK) != 0)
            #expect(try later.lookup("/a.png") == .missing(nil))
        }
    }

    @Test(arguments: Place.all)
    func aVersionThatMayBeStoredSurvivesTheRestart(place: Place) async throws {
        try await withTestScope { scope in
            let directory = try await place.directory(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            try await withTestScope { scope in
                let first = try await filled(
                    place, directory, origin, ["Cache-Control": "no-store"], in: scope)
                origin.route("/a.png", .answer(body: image))
                #expect(try await first.fetch("/a.png").failures.isEmpty)
            }
            let later = try cache(place, directory, origin, in: scope)
            expectTheImage(try facts(later))
        }
    }

    // MARK: Modes

    @Test func aFileSystemWithoutModesIsNoObstacle() async throws {
        let usual = umask(0o077)
        defer { umask(usual) }
        try await withTestScope { scope in
            let plan = FaultPlan(.fchmod, nth: 1, .noFunction)
            let folder = try CacheFolder(in: scope, faults: plan)
            _ = try folder.stage("a")
            #expect(plan.hasStruck)
        }
    }
}
