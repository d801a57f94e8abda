import CacheWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// The limits on the cache's size, and that it stays within them, measured from outside.
@Suite("Budgets", .serialized, .timeLimit(.minutes(5)))
struct BudgetTests {
    // MARK: Bursts

    @Test func aBurstStaysWithinTheBudgetAndNothingFails() async throws {
        try await withTestScope { scope in
            let budget = 4_000_000
            let daemon = try await DaemonFixture.start(["--max-bytes", "\(budget)"], in: scope)
            let burst = try ImageBurst(in: scope)
            let sampler = UsageSampler(of: daemon.directory, in: scope)

            // All at once; most are evicted again before the last has arrived.
            let together = Array(burst.urls.prefix(200))
            let items = try await daemon.ask(call("Fetch", together)).items
            #expect(items.count == together.count)
            for item in items { #expect(item.isOrWasThere, "\(item.url)") }
            let order = try await burst.fetch(burst.urls.dropFirst(200), daemon, callers: 8)

            let report = try await sampler.end()
            #expect(report.peak <= budget + ImageBurst.largestAllocation)
            #expect(report.peak > budget / 2)
            // On a machine of any speed there is at least one sample for every two images.
            #expect(report.samples >= burst.urls.count / 2, "\(report)")
            #expect(try await daemon.metric("published") == burst.urls.count)
            #expect(try await daemon.metric("failed") == 0)
            #expect(try await daemon.metric("refused") == 0)
            let used = try await daemon.metric("bytesUsed")
            #expect(used <= budget)
            #expect(used > budget / 8)
            try await daemon.expectLedgerMatchesDisk()

            // Eight callers at a time, so their replies arrive slightly out of order.
            let held = order.indices.filter { index in
                (try? daemon.path(order[index])).flatMap { size(at: $0) } != nil
            }
            let first = try #require(held.first)
            #expect(order.count - first <= held.count + 16)
            for url in together { #expect(size(at: try daemon.path(url)) == nil) }
        }
    }

    @Test func aCallForMoreNewImagesThanTheUnusedPartHoldsGetsThemAll() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            options.arguments = ["--max-entries", "200"]
            var cache = try await FilledCache(180, of: 900, options, in: scope)
            // All of them were used long after they were fetched.
            try await cache.daemon.stop()
            let paths = try cache.urls.indices.map { try cache.path($0) }
            try await runSuccessfully("touch", ["-a", "--date", "30 seconds"] + paths)
            cache = try await cache.restarted()
            let urls = (0..<150).map { number in
                let image = SampleImage.png(byteCount: 1000 + number)
                cache.origin.route("/new/\(number).png", .answer(body: image))
                return cache.origin.url("/new/\(number).png")
            }
            let items = try await cache.daemon.ask(call("Fetch", urls)).items
            for item in items {
                #expect(item.state == .cached, "\(item.url): \(String(describing: item.failure))")
            }
            #expect(try await cache.daemon.metric("entries") <= 200)
            // The call was answered, so its images go in their turn again: before those that were used.
            try await cache.evict(to: 20)
            #expect(try cache.held().count > 0)
        }
    }

    @Test func imagesThatDoNotFitTogetherWaitForEachOther() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--max-bytes", "1MB"], in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let sampler = UsageSampler(of: daemon.directory, in: scope)
            let urls = (0..<12).map { number in
                // A known length that leaves no space for a second image, or an unknown length.
                let isKnown = number % 3 == 0
                let image = SampleImage.png(byteCount: isKnown ? 700_000 : 200_000)
                origin.route(
                    "/\(number).png", isKnown ? .answer(body: image) : .chunked(image, by: 16_384))
                return origin.url("/\(number).png")
            }
            let items = try await daemon.ask(call("Fetch", urls)).items
            for item in items { #expect(item.isOrWasThere, "\(item.url)") }
            #expect(try await daemon.metric("published") == urls.count)
            #expect(try await sampler.end().peak <= 1_000_000)
            try await daemon.expectLedgerMatchesDisk()
        }
    }

    /// Each download reserves some space before it needs more than is left.
    @Test func largeImagesOfUnknownLengthDoNotFailEachOther() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--max-bytes", "1MB"], in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let sampler = UsageSampler(of: daemon.directory, in: scope)
            let urls = (0..<6).map { number in
                let image = SampleImage.png(byteCount: 700_000 + number * 1000)
                origin.route("/\(number).png", .chunked(image, by: 16_384))
                return origin.url("/\(number).png")
            }
            let items = try await daemon.ask(call("Fetch", urls)).items
            for item in items { #expect(item.isOrWasThere, "\(item.url)") }
            // One fits, and the others say which limit was too small.
            let causes = items.compactMap(\.failure?.message)
            #expect(causes.count == urls.count - 1)
            #expect(causes.allSatisfy { $0.contains("(--max-bytes, --max-entries)") }, "\(causes)")
            #expect(try await daemon.metric("published") == urls.count)
            #expect(try await daemon.metric("failed") == 0)
            // No download restarts more than once.
            #expect(origin.requests().count <= 2 * urls.count)
            let peak = try await sampler.end().peak
            #expect(peak <= 1_000_000)
            #expect(try daemon.names(excluding: []).allSatisfy { !$0.hasSuffix(".part") })
            try await daemon.expectLedgerMatchesDisk()
        }
    }

    // MARK: Images that cannot fit

    @Test func anImageOverTheBudgetFailsBeforeItsBodyIsSent() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--max-bytes", "1MB"], in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 1_200_000)
            for sent in [0, 100] {
                let gate = try Gate()
                let path = "/\(sent).png"
                origin.route(path, .gated(image, after: sent, gate))
                // The gate is never opened.
                let item = try await daemon.fetch(origin.url(path))
                #expect(item.state == .missing)
                #expect(item.failure?.kind == "noRoom")
                #expect(item.failure?.message.contains("1200000") == true)
                #expect(item.failure?.message.contains("--max-bytes") == true)
                try await origin.waitForOutcome(.abandoned, of: path)
            }
            #expect(try daemon.names(excluding: []).isEmpty)
            #expect(try await daemon.metric("bytesUsed") == 0)
            #expect(try await daemon.metric("refused") == 2)
        }
    }

    @Test func aBodyThatOutgrowsTheBudgetIsAbortedAndEvictsNoPinnedImage() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            options.arguments = ["--max-bytes", "1MB"]
            let cache = try await FilledCache(5, options, in: scope)
            #expect(try await cache.daemon.cachectl("pin", cache.urls[0]).status == .success)
            cache.origin.route("/endless.png", .endless(SampleImage.png(byteCount: 900)))
            let sampler = UsageSampler(of: cache.daemon.directory, in: scope)
            let item = try await cache.daemon.fetch(cache.origin.url("/endless.png"))
            #expect(item.failure?.kind == "noRoom")
            #expect(try await sampler.end().peak <= 1_000_000)
            #expect(try cache.held().contains(0))
            #expect(try cache.daemon.names(excluding: []).allSatisfy { !$0.hasSuffix(".part") })
            try await cache.daemon.expectLedgerMatchesDisk()
        }
    }

    // MARK: The ledger

    @Test func theLedgerMatchesTheDiskAndIncludesPartialDownloads() async throws {
        try await withTestScope { scope in
            var cache = try await FilledCache(5, in: scope)
            try await cache.daemon.expectLedgerMatchesDisk("fetched")
            let image = SampleImage.png(byteCount: 300_000)
            cache.origin.route("/cut.png", .cut(image, after: 200_000))
            let url = cache.origin.url("/cut.png")
            let item = try await cache.daemon.fetch(url)
            #expect(item.failure?.kind == "truncated")
            #expect(size(at: try cache.daemon.path(url) + ".part") == 200_000)
            #expect(try await cache.daemon.metric("partials") == 1)
            #expect(try await cache.daemon.metric("bytesUsed") > 200_000)
            try await cache.daemon.expectLedgerMatchesDisk("cut")
            for crash in [false, true] {
                try await cache.restart(afterCrash: crash)
                #expect(try await cache.daemon.metric("partials") == 1)
                try await cache.daemon.expectLedgerMatchesDisk("restarted, crash: \(crash)")
            }
            try #require(unlink(try cache.daemon.path(url) + ".part") == 0)
            try await cache.daemon.expectLedgerMatchesDisk(
                "the partial was removed by another program")
            try await cache.evict(to: 2)
            try await cache.daemon.expectLedgerMatchesDisk("evicted")
        }
    }

    // MARK: Entries

    @Test func theEntryLimitEvictsTheLeastRecentlyUsed() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            options.arguments = ["--max-entries", "10"]
            let cache = try await FilledCache(30, of: 900, options, in: scope)
            let sampled = try DirectoryUsage(of: cache.daemon.directory).entries
            #expect((9...10).contains(sampled))
            #expect(try await cache.daemon.metric("entries") == sampled)
            #expect(try cache.held() == Array((30 - sampled)..<30))
        }
    }

    // MARK: Memory

    /// The tables of the downloads shrink, and free memory is returned to the kernel.
    @Test(.disabled(if: isSanitized, "a sanitizer keeps freed memory"))
    func memoryOfManyDownloadsIsGivenBack() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            options.allowsLoopback = false
            let daemon = try await DaemonFixture.start(options, in: scope)
            let count = isLongForm ? 200_000 : 30_000
            _ = try await daemon.metric("entries")
            let before = try ProcessUsage(of: daemon.process.pid).anonymousBytes
            // Each is refused, because its address is not public.
            let path = String(repeating: "x", count: 100)
            let urls = (0..<count).map { "http://10.0.\($0 % 250).1/\(path)/\($0).png" }
            let connection = try daemon.connect()
            try await connection.send(call("Fetch", urls) + "\0")
            _ = try await connection.receive(within: .seconds(isLongForm ? 600 : 120))
            connection.shutdown()
            // Remembered failures take 6 MB.
            try await waitUntil("memory to be given back", within: .seconds(60)) {
                _ = try await daemon.metric("entries")
                return try ProcessUsage(of: daemon.process.pid).anonymousBytes - before < 14 << 20
            }
        }
    }

    // MARK: Free space

    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "\(SmallFileSystem.obstacle ?? "")"))
    func theCacheShrinksWhenOtherProgramsFillTheDisk() async throws {
        try await withTestScope { scope in
            let disk = try await SmallFileSystem(bytes: 16 << 20, in: scope)
            var options = DaemonFixture.Options()
            options.directory = "\(disk.path)/cache"
            options.arguments = ["--max-bytes", "15MiB", "--min-free", "4MiB"]
            let cache = try await FilledCache(20, of: 400_000, options, in: scope)
            #expect(try cache.held().count == 20)
            #expect(try disk.space().free > 7 << 20)
            let events = try FileEvents(.removals, in: cache.daemon.directory, scope)
            // Another program fills the disk while no client calls the daemon.
            try await runSuccessfully(
                "dd", ["if=/dev/zero", "of=\(disk.path)/other", "bs=1M", "count=7", "status=none"])
            let full = try disk.space().free
            #expect(full < 4 << 20)
            let watch = Stopwatch()
            try await events.wait(for: "the required free space") {
                try disk.space().free >= 4 << 20
            }
            #expect(watch.time < .seconds(10))
            let held = try cache.held()
            #expect(held == Array((20 - held.count)..<20))
            #expect(held.count > 5)
            #expect(
                try await cache.daemon.metric("bytesUsed") <= cache.daemon.metric("bytesAllowed"))
        }
    }

    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "\(SmallFileSystem.obstacle ?? "")"))
    func downloadsKeepTheFreeSpaceMinimumAndFailuresNameIt() async throws {
        try await withTestScope { scope in
            let disk = try await SmallFileSystem(bytes: 8 << 20, in: scope)
            var options = DaemonFixture.Options()
            options.directory = "\(disk.path)/cache"
            options.arguments = ["--max-bytes", "8MiB", "--min-free", "6MiB"]
            let cache = try await FilledCache(12, of: 300_000, options, in: scope)
            #expect(try disk.space().free >= 6 << 20)
            let held = try cache.held()
            #expect(!held.isEmpty && held == Array((12 - held.count)..<12))
            cache.origin.route("/big.png", .answer(body: SampleImage.png(byteCount: 3 << 20)))
            let item = try await cache.daemon.fetch(cache.origin.url("/big.png"))
            #expect(item.failure?.kind == "noRoom")
            #expect(item.failure?.message.contains("--min-free") == true)
            #expect(try cache.held() == held)
        }
    }

    @Test func defaultLimitsDependOnTheFileSystemSize() async throws {
        try await withTestScope { scope in
            try await expectDefaults(.init(), in: scope)
            guard SmallFileSystem.obstacle == nil else { return }
            var options = DaemonFixture.Options()
            options.directory =
                try await SmallFileSystem(bytes: 64 << 20, in: scope).path + "/cache"
            try await expectDefaults(options, in: scope)
        }
    }

    private func expectDefaults(
        _ options: DaemonFixture.Options, in scope: TestScope
    ) async throws {
        let daemon = try await DaemonFixture.start(options, in: scope)
        let size = try SmallFileSystem.space(at: daemon.directory).size
        #expect(try await daemon.metric("bytesBudget") == Int(min(size / 10, 10 << 30)))
        #expect(try await daemon.metric("bytesMinFree") == Int(min(size / 20, 1 << 30)))
    }

    // MARK: Reloading

    @Test func reloadingASmallerLimitShrinksTheCacheAtOnce() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("CACHED_MAX_BYTES=1MB\n", to: "cached.conf")
            var options = DaemonFixture.Options()
            options.arguments = ["--config", file]
            let cache = try await FilledCache(20, of: 30_000, options, in: scope)
            let daemon = cache.daemon
            #expect(try cache.held().count == 20)
            // They take a block of each image.
            for number in 0..<20 {
                _ = try await ExtendedAttributes.all(of: try cache.path(number))
            }
            try await waitUntil("the attributes to be counted") {
                try await daemon.metric("bytesUsed") == daemon.diskUsage()
            }

            try home.write("CACHED_MAX_BYTES=400kB\nCACHED_MIN_FREE=5MB\n", to: "cached.conf")
            daemon.process.signal(SIGHUP)
            try await daemon.process.waitForLine(containing: "configuration read again")
            // An eviction goes on down to nine tenths of the budget.
            try await waitUntil("the smaller budget") {
                _ = try await daemon.metric("bytesUsed")
                return try DirectoryUsage(of: daemon.directory).bytes <= 360_000
            }
            #expect(try await daemon.metric("bytesBudget") == 400_000)
            #expect(try await daemon.metric("bytesMinFree") == 5_000_000)
            let held = try cache.held()
            #expect(held.count > 8 && held == Array((20 - held.count)..<20))

            for (broken, said) in [
                ("CACHED_MAX_BYTES=lots\n", "CACHED_MAX_BYTES is"),
                ("CACHED_MAX_BITES=1MB\n", "CACHED_MAX_BITES"),
                // More than any disk has.
                ("CACHED_MIN_FREE=1000000TiB\n", "are to stay free (--min-free)"),
            ] {
                try home.write(broken, to: "cached.conf")
                daemon.process.signal(SIGHUP)
                let line = try await daemon.process.waitForLine(containing: said)
                #expect(line.contains("error") && line.contains("settings unchanged"))
                #expect(try await daemon.metric("bytesBudget") == 400_000)
            }
            #expect(try cache.held() == held)

            try home.write("CACHED_MAX_ENTRIES=3\n", to: "cached.conf")
            daemon.process.signal(SIGHUP)
            try await waitUntil("fewer entries") {
                _ = try await daemon.metric("entries")
                return try cache.held().count <= 3
            }
            #expect(try cache.held() == [17, 18, 19])
            try await daemon.expectLedgerMatchesDisk()
        }
    }
}

/// Images of 5 to 60 kB on two origins, with and without a length.
private struct ImageBurst {
    /// The disk space of the largest image, including its attributes.
    static let largestAllocation = 61_440 + 4096

    let urls: [String]

    init(in scope: TestScope) throws {
        let origins = try [ScriptedOrigin(in: scope), ScriptedOrigin(in: scope)]
        urls = (0..<400).map { number in
            let origin = origins[number % 2]
            let size = 5000 + number * 7919 % 55_000
            let image = SampleImage.png(byteCount: size, seed: number)
            let path = "/\(number).png"
            origin.route(path, number % 3 == 0 ? .chunked(image) : .answer(body: image))
            return origin.url(path)
        }
    }

    /// Fetches one by one, with several callers at a time. Returns the URLs in the order they were cached.
    func fetch(
        _ urls: some Collection<String>, _ daemon: DaemonFixture, callers: Int
    ) async throws -> [String] {
        let queue = WorkQueue(urls)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<callers {
                group.addTask {
                    let connection = try daemon.connect()
                    while let url = queue.next() {
                        let item = try await connection.ask(call("Fetch", [url])).items.first
                        try #require(item?.state == .cached, "\(String(describing: item))")
                        queue.finished(url)
                    }
                }
            }
            try await group.waitForAll()
        }
        return queue.done
    }

    /// The URLs left to fetch and those fetched, shared by several callers.
    private final class WorkQueue: Sendable {
        private let left: Mutex<[String]>
        private let finished = Mutex<[String]>([])

        init(_ urls: some Collection<String>) {
            left = Mutex(urls.reversed())
        }

        var done: [String] { finished.withLock { $0 } }

        func next() -> String? { left.withLock { $0.popLast() } }

        func finished(_ url: String) { finished.withLock { $0.append(url) } }
    }
}

extension Item {
    /// Nothing failed for lack of space. An early image may have been evicted for a later one.
    fileprivate var isOrWasThere: Bool {
        failure == nil
            || failure?.message.contains("before it could be reported it was evicted") == true
    }
}
