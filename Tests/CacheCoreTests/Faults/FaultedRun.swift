import CacheKey
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// One life of a cache in which one system call fails: a start, downloads, a hit, a revalidation, a resumed download,
/// pins, uses, a removal, memory relief, an eviction, another scan. The cache keeps its promises in spite of the
/// failure; otherwise the run throws.
struct FaultedRun {
    let place: FaultPlace
    let directory: String
    let plan: FaultPlan?

    /// The cache could not be opened, and the error said why.
    private(set) var didRefuseToStart = false
    /// The images that were cached at the end of the life.
    private var kept: [String] = []
    /// The failures of downloads.
    private(set) var failures: [Failure] = []

    init(_ place: FaultPlace, in directory: String, _ plan: FaultPlan?) {
        self.place = place
        self.directory = directory
        self.plan = plan
    }

    mutating func run() async throws {
        try await place.copy(to: directory)
        try await withTestScope { scope in try await live(in: scope) }
        guard plan?.hasStruck != false else { return }
        try await withTestScope { scope in try await check(in: scope) }
    }

    // MARK: The life

    private mutating func live(in scope: TestScope) async throws {
        let fixture: CacheFixture
        do {
            fixture = try CacheFixture(
                in: scope, directory: directory, origin: place.origin, faults: plan)
        } catch let error as CacheError {
            try expect(plan?.hasStruck == true, "it refused to start: \(error)")
            // The path can be that of a parent directory that can't be made.
            let isClear = ["/dev", "open files"].contains { error.message.contains($0) }
            try expect(isClear && error.message.contains(";"), "that is no help: \(error)")
            return didRefuseToStart = true
        }
        try await fixture.waitForScan()
        try await download(FaultPlace.new, fixture)
        for path in [FaultPlace.fresh, FaultPlace.stale, FaultPlace.partial] {
            try await download([path], fixture)
        }
        await fixture.pin(FaultPlace.fresh, true)
        await fixture.pin(FaultPlace.fresh, false)
        fixture.cache.flushAccessTimes()
        fixture.cache.keepLimits()
        _ = try await fixture.remove(FaultPlace.unloved)
        await fixture.dropPages()
        await fixture.evict(to: fixture.cache.statistics().bytesUsed / 2)
        try answersAtOnce(fixture)
        try await fixture.readAgain()
        try await expectTrueFigures(fixture)
        // One fault costs at most one download.
        try expect(failures.count <= 1, "\(failures.count) downloads failed: \(failures)")
        for failure in failures { try expectHelp(failure) }
        kept = try FaultPlace.all.filter { try fixture.lookup($0).isCached }
    }

    private mutating func download(_ paths: [String], _ fixture: CacheFixture) async throws {
        let imageRequests = try paths.map { try fixture.imageRequest($0) }
        let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
        let failed = try await fixture.outcome(of: waiter).failures
        failures += failed.values
        for (path, imageRequest) in zip(paths, imageRequests) where failed[imageRequest.key] == nil
        {
            try expectWhole(path, fixture)
        }
        try answersAtOnce(fixture)
    }

    private func answersAtOnce(_ fixture: CacheFixture) throws {
        let watch = Stopwatch()
        _ = fixture.cache.lookup(try FaultPlace.all.map { try fixture.imageRequest($0).key })
        let duration = watch.time
        try expect(duration < .seconds(1), "an answer took \(duration)")
    }

    private func expectHelp(_ failure: Failure) throws {
        try expect(plan?.hasStruck == true, "\(failure)")
        try expect(failure.kind == .storage, "\(failure)")
        let isClear = failure.message.contains(directory) && failure.message.contains(";")
        try expect(isClear, "that is no help: \(failure)")
    }

    /// The figures of the cache agree with the disk.
    private func expectTrueFigures(_ fixture: CacheFixture) async throws {
        try await waitUntil("the figures to agree") {
            let usage = try DirectoryUsage(of: directory)
            let figures = fixture.cache.statistics()
            return figures.bytesUsed == usage.bytes && figures.entries == usage.entries
                && figures.partials == usage.partials
        }
    }

    // MARK: Afterwards

    /// Another cache finds only whole images, has the same figures, and can download everything.
    private func check(in scope: TestScope) async throws {
        let fixture = try CacheFixture(in: scope, directory: directory, origin: place.origin)
        try await fixture.waitForScan()
        for path in kept { try expectWhole(path, fixture) }
        try expectWholeImages(fixture)
        try await expectTrueFigures(fixture)
        let imageRequests = try FaultPlace.all.map { try fixture.imageRequest($0) }
        let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
        let outcome = try await fixture.outcome(of: waiter)
        try expect(outcome.failures.isEmpty, "not to be had again: \(outcome.failures.values)")
        for path in FaultPlace.all { try expectWhole(path, fixture) }
        let count = try DirectoryUsage(of: directory)
        try expect(count.entries == FaultPlace.all.count && count.partials == 0, "\(count)")
    }

    /// Every file that exists is a whole image.
    private func expectWholeImages(_ fixture: CacheFixture) throws {
        for path in FaultPlace.all where access(try fixture.file(path), F_OK) == 0 {
            try expectWhole(path, fixture)
        }
    }

    private func expectWhole(_ path: String, _ fixture: CacheFixture) throws {
        let file = try fixture.file(path)
        try expect(access(file, F_OK) == 0, "\(path) is gone")
        let isWhole = try contents(of: file) == FaultPlace.images[path]
        try expect(isWhole, "\(path) is not what the origin has")
        try expectCached(path, fixture)
    }

    /// If the fault hits the question itself, the answer says so, and the next answer is right.
    private func expectCached(_ path: String, _ fixture: CacheFixture) throws {
        let hadStruck = plan?.hasStruck == true
        let answer = try fixture.lookup(path)
        guard !answer.isCached else { return }
        let failure = hadStruck ? nil : answer.failure
        guard let failure else { throw TestFailure("\(path) is no entry") }
        try expectHelp(failure)
        try expect(try fixture.lookup(path).isCached, "\(path) is no entry any more: \(failure)")
    }

    private func expect(_ holds: Bool, _ what: @autoclosure () -> String) throws {
        guard !holds else { return }
        throw TestFailure(what())
    }
}

extension CacheFixture {
    /// Waits until no scan runs. The last one can have failed.
    fileprivate func waitForScan() async throws {
        try await waitUntil("the end of the scan") {
            cache.read { $0.disk.validity != .loading && !$0.disk.isScanning }
        }
    }

    /// Scans the directory once more, or twice if changes were lost.
    fileprivate func readAgain() async throws {
        cache.startScan()
        try await waitForScan()
        guard !cache.statistics().isWhole else { return }
        cache.startScan()
        try await waitForScan()
    }

    fileprivate func pin(_ path: String, _ isPinned: Bool) async {
        guard let key = try? imageRequest(path).key else { return }
        await withCheckedContinuation { continuation in
            cache.pin([key], isPinned) { _ in continuation.resume() }
        }
    }

    fileprivate func evict(to bytes: Int64) async {
        await withCheckedContinuation { continuation in
            cache.evict(toBytes: bytes) { _, _ in continuation.resume() }
        }
    }

    fileprivate func dropPages() async {
        await withCheckedContinuation { continuation in
            cache.dropPages(ofColdest: 0.5) { _ in continuation.resume() }
        }
    }
}
