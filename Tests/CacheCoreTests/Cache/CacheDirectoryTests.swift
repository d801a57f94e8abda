import CLinux
import CacheKey
import CacheValues
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Ends the loops of other threads.
private final class Flag: Sendable {
    let isOver = Atomic(false)
}

@Suite("Cache: its directory", .timeLimit(.minutes(5)))
struct CacheDirectoryTests {
    let image = SampleImage.png(byteCount: 5000)

    @Test func existingEntriesAreCachedFromTheFirstAnswerOn() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).file("cache")
            let (key, facts) = try await withTestScope { scope in
                let first = try CacheFixture(in: scope, directory: directory)
                first.origin.route("/a.png", .answer(body: image))
                _ = try await first.fetch("/a.png")
                return (try first.imageRequest("/a.png").key, try first.lookup("/a.png"))
            }
            // Its scan can have ended, or not even begun.
            let second = try CacheFixture(in: scope, directory: directory)
            guard case .cached(let found, _, _)? = second.cache.lookup([key]).first,
                case .cached(let known, _, _) = facts
            else {
                Issue.record("the entry is not cached")
                return
            }
            #expect(found.size == known.size)
            #expect(found.fetchedAt == known.fetchedAt)
            #expect(found.freshUntil == known.freshUntil)
        }
    }

    @Test(arguments: [5000, 200_000])
    func theErrorNamesADirectoryInTheWayOfAPartial(byteCount: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: SampleImage.png(byteCount: byteCount)))
            let partial = try fixture.partial("/a.png")
            #expect(mkdir(partial, 0o755) == 0)
            let key = try fixture.imageRequest("/a.png").key
            let failure = try await fixture.fetch("/a.png").failures[key]
            // A small image has no partial, so the directory is not in its way.
            if byteCount > 64 * 1024 { #expect(failure != nil) }
            #expect(failure?.message.contains(partial) != false)
            #expect(fixture.cache.statistics().partials == 0)
        }
    }

    /// A user with write permission can give a file any time.
    @Test(arguments: [-(1 << 60), -(1 << 34), 1 << 34, 1 << 60] as [Int])
    func anExtremeFileTimeIsAccepted(seconds: Int) async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).file("cache")
            let path = try await withTestScope { scope in
                let fixture = try CacheFixture(in: scope, directory: directory)
                fixture.origin.route("/a.png", .answer(body: image))
                _ = try await fixture.fetch("/a.png")
                let path = try fixture.file("/a.png")
                let times = [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: 0), count: 2)
                #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
                #expect(try fixture.lookup("/a.png").isCached)
                return path
            }
            #expect(access(path, F_OK) == 0)
            let second = try CacheFixture(in: scope, directory: directory)
            try await waitUntil("the scan") { second.cache.statistics().entries == 1 }
        }
    }

    /// The kernel can report both renames as one.
    @Test func aRenameRightAfterPublishingIsNoticed() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let large = SampleImage.png(byteCount: 200_000)
            for round in 0..<20 {
                let path = "/\(round).png"
                fixture.origin.route(path, .answer(body: large))
                let file = try fixture.file(path)
                let end = ContinuousClock.now + .patience
                let stranger = NamedThread("stranger") {
                    // A name inside the directory would cause an event too.
                    let junk = fixture.directory + ".junk"
                    close(open(junk, O_WRONLY | O_CREAT, 0o644))
                    while access(file, F_OK) != 0, .now < end {}
                    rename(junk, file)
                }
                _ = try await fixture.fetch(path)
                stranger.join()
                guard case .missing = try fixture.lookup(path) else {
                    Issue.record("what lies there is no image, in round \(round)")
                    return
                }
            }
        }
    }

    @Test func removingAndRestoringAFileIsNoticedByTheNextQuestion() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            _ = try await fixture.fetch("/a.png")
            let file = try fixture.file("/a.png")
            let kept = file + ".kept"
            for _ in 0..<200 {
                #expect(rename(file, kept) == 0)
                #expect(try fixture.lookup("/a.png") == .missing(nil))
                #expect(rename(kept, file) == 0)
                #expect(try fixture.lookup("/a.png").isCached)
            }
            #expect(unlink(file) == 0)
            #expect(try fixture.lookup("/a.png") == .missing(nil))
            #expect(fixture.cache.statistics().entries == 0)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: file) == image)
        }
    }

    @Test func aForeignFileIsReplacedAndNotRead() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            let target = try TemporaryDirectory(in: scope).write("precious", to: "target")
            #expect(symlink(target, try fixture.file("/a.png")) == 0)
            #expect(try fixture.lookup("/a.png") == .missing(nil))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(try contents(of: target) == Array("precious".utf8))
        }
    }

    @Test func aDirectoryInTheWayIsReportedAndLeftAlone() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(mkdir(try fixture.file("/a.png"), 0o700) == 0)
            #expect(try fixture.lookup("/a.png").failure?.kind == .obstructed)
            #expect(try await fixture.fetch("/a.png").failures.values.first?.kind == .obstructed)
            #expect(rmdir(try fixture.file("/a.png")) == 0)
            #expect(try fixture.lookup("/a.png") == .missing(nil))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
        }
    }

    @Test func answersStayRightWhenTheKernelLosesChanges() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            for name in ["/a.png", "/b.png", "/c.png"] {
                fixture.origin.route(name, .answer(body: image))
            }
            _ = try await fixture.fetch("/a.png", "/b.png", "/c.png")
            #expect(try fixture.lookup("/a.png").isCached)
            try CacheFolder.overflowQueue(of: fixture.directory)
            #expect(rename(try fixture.file("/b.png"), try fixture.file("/b.png") + ".kept") == 0)
            #expect(try fixture.lookup("/b.png") == .missing(nil))
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(rename(try fixture.file("/b.png") + ".kept", try fixture.file("/b.png")) == 0)
            #expect(try fixture.lookup("/b.png").isCached)
            #expect(unlink(try fixture.file("/c.png")) == 0)
            // The repeated scan ends, and the index is trusted again.
            let deadline = ContinuousClock.now + .patience
            while !fixture.cache.statistics().isWhole, ContinuousClock.now < deadline {
                #expect(try fixture.lookup("/c.png") == .missing(nil))
                #expect(try fixture.lookup("/b.png").isCached)
            }
            #expect(fixture.cache.statistics().isWhole)
            #expect(fixture.cache.statistics().entries == 2)
            #expect(try fixture.lookup("/c.png") == .missing(nil))
        }
    }

    @Test func withoutAWatchEveryAnswerIsStillRight() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(
                in: scope, faults: FaultPlan(.inotify, nth: 1, .tooManyOpenFiles))
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(unlink(try fixture.file("/a.png")) == 0)
            #expect(try fixture.lookup("/a.png") == .missing(nil))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try fixture.lookup("/a.png").isCached)
        }
    }

    @Test func aTagThatWasRemovedComesBackWithTheWorkOfTheMinute() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let tag = fixture.directory + "/CACHEDIR.TAG"
            let text = try contents(of: tag)
            try #require(unlink(tag) == 0)
            fixture.cache.tendEveryMinute()
            #expect(try contents(of: tag) == text)
        }
    }

    /// An administrator can have raised the limits.
    @Test func aMissingWatchIsRequestedAgain() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.inotify, nth: 1, .tooManyOpenFiles, times: 2)
            let fixture = try CacheFixture(in: scope, faults: faults)
            fixture.cache.waitForScan()
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            for isWatched in [false, true] {
                fixture.cache.scanIfBlind()
                fixture.cache.waitForScan()
                #expect((fixture.cache.watchDescriptor != nil) == isWatched)
                let isTrusted = fixture.cache.read {
                    $0.disk.validity == .complete
                }
                #expect(isTrusted == isWatched)
            }
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(unlink(try fixture.file("/a.png")) == 0)
            #expect(try fixture.lookup("/a.png") == .missing(nil))
        }
    }

    /// Its bytes and its record stay the same.
    @Test func anEntryWhoseModeChangesAllTheTimeIsCached() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let flag = Flag()
            let path = try fixture.file("/a.png")
            let strangers = (0..<2).map { _ in
                NamedThread("stranger") {
                    var count = 0
                    while !flag.isOver.load(ordering: .relaxed) {
                        count += 1
                        chmod(path, count % 2 == 0 ? 0o644 : 0o640)
                    }
                }
            }
            for _ in 0..<2000 { #expect(try fixture.lookup("/a.png").isCached) }
            flag.isOver.store(true, ordering: .relaxed)
            for stranger in strangers { stranger.join() }
        }
    }

    /// A name whose probe fails is probed again, and not forgotten.
    @Test func aFileThatTheScanCouldNotProbeIsProbedLater() async throws {
        try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope).file("cache")
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            try await withTestScope { scope in
                let first = try CacheFixture(in: scope, directory: directory, origin: origin)
                _ = try await first.fetch("/a.png")
            }
            let faults = FaultPlan(.fstatat, nth: 1, .ioError)
            let second = try CacheFixture(
                in: scope, directory: directory, origin: origin, faults: faults)
            try await waitUntil("the end of the scan") { second.cache.statistics().isWhole }
            #expect(faults.hasStruck)
            #expect(try second.lookup("/a.png").isCached)
            #expect(second.cache.statistics().entries == 1)
        }
    }

    /// The second sync of the directory belongs to the download, the first one to the start.
    @Test func anImageLostWithTheDirectorysSyncIsDownloadedAgain() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope, faults: FaultPlan(.fsync, nth: 3, .ioError))
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests("/a.png").count == 2)
            #expect(try contents(of: fixture.file("/a.png")) == image)
        }
    }

    @Test func aDirectoryThatWasMovedAwayIsReportedAndCanComeBack() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            _ = try await fixture.fetch("/a.png")
            #expect(rename(fixture.directory, fixture.directory + "-moved") == 0)
            #expect(try fixture.lookup("/a.png").failure?.kind == .storage)
            #expect(fixture.cache.list(.recency, limit: 10, after: nil).isEmpty)
            #expect(rename(fixture.directory + "-moved", fixture.directory) == 0)
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(fixture.cache.list(.recency, limit: 10, after: nil).count == 1)
        }
    }

    @Test func changesAreReportedWhileObserved() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            let key = try fixture.imageRequest("/a.png").key
            #expect(fixture.cache.takeChanges().isEmpty)
            fixture.cache.observeChanges(true)
            async let told: Void = fixture.change { $0.contains(key) }
            #expect(
                fixture.cache.fetchDetached([try fixture.imageRequest("/a.png")], FetchOptions()))
            try await told
            try await fixture.lookup("/a.png") { $0.isCached }
            _ = fixture.cache.takeChanges()
            #expect(unlink(try fixture.file("/a.png")) == 0)
            #expect(fixture.cache.takeChanges() == [key])
            fixture.cache.observeChanges(false)
        }
    }

    @Test func aSecondCacheOnTheDirectoryIsRefused() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let error = #expect(throws: CacheError.self) {
                _ = try CacheFixture(in: scope, directory: fixture.directory)
            }
            #expect(error?.code == .directoryInUse)
        }
    }
}
