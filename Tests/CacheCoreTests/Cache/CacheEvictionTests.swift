import CacheValues
import Logging
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Evicting files that can't be removed.
@Suite("Cache: evicting", .timeLimit(.minutes(5)))
struct CacheEvictionTests {
    @Test func anUnremovableFileStaysAnEntryAndIsNotCountedAsEvicted() async throws {
        try await withTestScope { scope in
            // The first unlink is that of the name which opening the directory tries.
            let faults = FaultPlan(.unlinkat, nth: 2, .notPermitted)
            let fixture = try CacheFixture(in: scope, faults: faults)
            let names = ["/a.png", "/b.png", "/c.png"]
            for name in names {
                fixture.origin.route(name, .answer(body: SampleImage.png(byteCount: 2000)))
                _ = try await fixture.fetch(name)
            }
            let used = fixture.cache.statistics().bytesUsed
            let each = used / 3
            let end = await evict(fixture.cache)
            #expect(end.gone == Removal(entries: 2, bytes: 2 * each))
            #expect(end.failure?.message.hasPrefix("1 could not be removed from ") == true)
            #expect(faults.hasStruck)
            // The call fails for the oldest entry, which was published first.
            #expect(try fixture.lookup("/a.png").isCached)
            for name in names[1...] { #expect(try fixture.lookup(name).isMissing) }
            #expect(fixture.cache.statistics().bytesUsed == each)
            #expect(fixture.cache.statistics().evicted == end.gone)
            // The next removal succeeds.
            let next = await evict(fixture.cache)
            #expect(next.gone == Removal(entries: 1, bytes: each))
            #expect(next.failure == nil)
            #expect(try fixture.lookup("/a.png").isMissing)
        }
    }

    @Test func anEvictionEndsIfNothingCanBeRemoved() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.unlinkat, nth: 2, .readOnlyFileSystem, times: .max)
            let fixture = try CacheFixture(in: scope, faults: faults)
            for number in 0..<20 {
                fixture.origin.route("/\(number)", .answer(body: SampleImage.png()))
                _ = try await fixture.fetch("/\(number)")
            }
            let used = fixture.cache.statistics().bytesUsed
            for bytes in [0, used - 1, 0, used / 2] {
                let end = await evict(fixture.cache, to: bytes)
                #expect(end.gone == .nothing)
                #expect(end.failure?.message.hasPrefix("8 could not be removed from ") == true)
                #expect(fixture.cache.statistics().entries == 20)
            }
        }
    }

    @Test func oneLargeImageEvictsManySmallOnes() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let (count, block) = (VictimSearch.slice * 2, Int64(4096))
            let small = SampleImage.png()
            for number in 0..<count { fixture.origin.route("/\(number)", .answer(body: small)) }
            for number in 0..<count { _ = try await fixture.fetch("/\(number)") }
            let used = fixture.cache.statistics().bytesUsed
            var settings = fixture.cache.settings
            settings.limits.maximumBytes = used
            try fixture.cache.apply(settings)
            let size = Int(used - 10 * block)
            fixture.origin.route("/large", .answer(body: SampleImage.png(byteCount: size)))
            #expect(try await fixture.fetch("/large").failures.isEmpty)
            #expect(try fixture.lookup("/large").isCached)
            let statistics = fixture.cache.statistics()
            #expect(statistics.evicted.entries > VictimSearch.slice)
            #expect(statistics.bytesUsed <= used)
        }
    }

    @Test func anUnremovableFileDoesNotBlockDownloads() async throws {
        try await withTestScope { scope in
            let faults = FaultPlan(.unlinkat, nth: 2, .notPermitted)
            let fixture = try CacheFixture(in: scope, faults: faults) {
                $0.limits.maximumEntries = 4
            }
            for number in 0..<20 {
                fixture.origin.route("/\(number)", .answer(body: SampleImage.png()))
                let failures = try await fixture.fetch("/\(number)").failures
                #expect(failures.isEmpty, "\(failures)")
            }
            #expect(faults.hasStruck)
            // The oldest entry is skipped, and the others were evicted instead.
            #expect(try fixture.lookup("/0").isCached)
            #expect(fixture.cache.statistics().entries <= 4)
            #expect(await evict(fixture.cache).failure == nil)
            #expect(try fixture.lookup("/0").isMissing)
        }
    }

    /// Earlier openings: the directory, its tag, the lock twice, a file without a name, and one for
    /// each image so far.
    @Test(arguments: [SyscallName.write, .openat, .fsetxattr, .linkat])
    func aFullDiskEvictsTheOldestAndTheDownloadSucceeds(call: SyscallName) async throws {
        try await withTestScope { scope in
            let before: [SyscallName: Int] = [.write: 4, .openat: 7, .fsetxattr: 3, .linkat: 3]
            // The first attribute is the record, which nothing can be left out of.
            let faults = FaultPlan(call, nth: (before[call] ?? 0) + 1, .noSpace)
            let directory = try TemporaryDirectory(inMemory: scope).file("cache")
            let fixture = try CacheFixture(in: scope, directory: directory, faults: faults)
            fixture.cache.waitForScan()
            let names = ["/a.png", "/b.png", "/c.png"]
            for name in names {
                fixture.origin.route(name, .answer(body: SampleImage.png(byteCount: 2000)))
                #expect(try await fixture.fetch(name).failures.isEmpty)
            }
            #expect(faults.hasStruck)
            #expect(try fixture.lookup("/a.png").isMissing)
            #expect(try fixture.lookup("/b.png").isCached)
            #expect(try fixture.lookup("/c.png").isCached)
            #expect(fixture.cache.statistics().evicted.entries == 1)
        }
    }

    /// The image arrives at once and is written at its publication, or it arrives in pieces.
    @Test(arguments: [false, true])
    func aFullDiskEvictsAsManyAsTheImageNeeds(isInPieces: Bool) async throws {
        try await withTestScope { scope in
            // Opening writes twice, each small image once.
            let faults = FaultPlan(.write, nth: 13, .noSpace)
            let fixture = try CacheFixture(in: scope, faults: faults)
            for number in 0..<10 {
                let body = SampleImage.png(byteCount: 2000, seed: number)
                fixture.origin.route("/\(number).png", .answer(body: body))
                #expect(try await fixture.fetch("/\(number).png").failures.isEmpty)
            }
            let large = SampleImage.png(byteCount: 15_000)
            let gate = try Gate()
            gate.open()
            fixture.origin.route(
                "/large.png",
                isInPieces ? .gated(large, after: 1000, gate) : .answer(body: large))
            #expect(try await fixture.fetch("/large.png").failures.isEmpty)
            #expect(faults.hasStruck)
            let evicted = fixture.cache.statistics().evicted
            #expect(evicted.bytes >= (isInPieces ? 14_000 : 15_000))
            #expect(evicted.entries < 10)
        }
    }

    /// Before the scan the ledger is empty, so the free space looks like the whole capacity.
    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "\(SmallFileSystem.obstacle ?? "")"))
    func aMeasurementBeforeTheScanEvictsNothing() async throws {
        try await withTestScope { scope in
            let disk = try await SmallFileSystem(bytes: 4 << 20, in: scope)
            let origin = try ScriptedOrigin(in: scope)
            try await withTestScope { scope in
                let first = try CacheFixture(
                    in: scope, directory: "\(disk.path)/cache", origin: origin
                ) {
                    $0.limits.maximumBytes = 4 << 20
                    $0.limits.minimumFree = 0
                }
                for number in 0..<8 {
                    origin.route(
                        "/\(number).png", .answer(body: SampleImage.png(byteCount: 300_000)))
                    _ = try await first.fetch("/\(number).png")
                }
            }
            var settings = CacheSettings(directory: "\(disk.path)/cache")
            settings.limits.maximumBytes = 4 << 20
            settings.limits.minimumFree = 1 << 20
            let cache = try Cache(settings, logger: Logger(label: "test"))
            cache.measure()
            #expect(cache.statistics().bytesAllowed < 2 << 20)
            cache.start(observer: SilentObserver())
            try await waitUntil("the end of the scan") { cache.statistics().isWhole }
            await CacheFixture.drain(cache)
            #expect(cache.statistics().entries == 8)
            #expect(cache.statistics().evicted == .nothing)
        }
    }

    /// A tmpfs without a size limit reports that it has no blocks.
    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "\(SmallFileSystem.obstacle ?? "")"))
    func aFileSystemWithoutASizeHasSpace() async throws {
        try await withTestScope { scope in
            let disk = try await SmallFileSystem(bytes: 0, in: scope)
            let origin = try ScriptedOrigin(in: scope)
            for _ in 0..<2 {
                try await withTestScope { scope in
                    let fixture = try CacheFixture(
                        in: scope, directory: "\(disk.path)/cache", origin: origin)
                    origin.route("/a.png", .answer(body: SampleImage.png()))
                    #expect(try await fixture.fetch("/a.png").failures.isEmpty)
                    try await waitUntil("the end of the scan") {
                        fixture.cache.statistics().isWhole
                    }
                    fixture.cache.keepLimits()
                    #expect(try fixture.lookup("/a.png").isCached)
                    #expect(fixture.cache.statistics().bytesBudget == 10 << 30)
                }
            }
            #expect(origin.requests().count == 1)
        }
    }

    private func evict(
        _ cache: Cache, to bytes: Int64 = 0
    ) async -> (gone: Removal, failure: Failure?) {
        await withCheckedContinuation { continuation in
            cache.evict(toBytes: bytes) { continuation.resume(returning: ($0, $1)) }
        }
    }
}

/// An observer that ignores every report.
private final class SilentObserver: CacheObserver {
    func decided(_ outcomes: [Outcome]) {}
    func changesArrived() {}
}
