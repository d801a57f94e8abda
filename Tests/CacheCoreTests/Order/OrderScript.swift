import CacheKey
import CacheValues
import Glibc
import TestSupport

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Random operations on a cache with real files and on the model of it, compared after each.
///
/// Every operation ends and the cache is idle before the next one starts. Other tests cover
/// concurrency.
final class OrderScript {
    struct Figures: CustomStringConvertible {
        var operations = 0
        var restarts = 0
        var evicted = 0
        /// The number of comparisons of the ledger with du(1).
        var audits = 0
        var counts: [String: Int] = [:]

        var description: String {
            let kinds = counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            return """
                \(operations) operations (\(kinds.joined(separator: ", "))), \
                \(evicted) entries evicted, \(restarts) restarts, du(1) asked \(audits) times
                """
        }
    }

    static let images = 160
    /// Images have the names of these numbers. The stray file has the number after them.
    static let stray = images
    static let range: ClosedRange<Int64> = 400_000...3_000_000

    let scope: TestScope
    let origin: ScriptedOrigin
    let directory: String
    /// The directory for files that the script moves or copies out of the cache.
    let side: String
    let bodies: [[UInt8]]
    let names: [String]
    let numbers: [String: Int]
    let watch: DeletionWatch
    var random: SeededGenerator
    var model: OrderModel
    /// The images moved or copied out of the cache, and whether each is pinned.
    var kept: [Int: Bool] = [:]
    var figures = Figures()
    /// The latest operations, for failure reports.
    var trace: [String] = []

    /// - Parameter path: an empty directory.
    init(seed: UInt64, at path: String, in scope: TestScope) throws {
        self.scope = scope
        random = SeededGenerator(seed: seed)
        origin = try ScriptedOrigin(in: scope)
        directory = path + "/cache"
        side = path + "/side"
        for made in [directory, side] {
            guard mkdir(made, 0o700) == 0 else { throw TestFailure("\(made) can't be created") }
        }
        bodies = (0..<32).map { number in
            // Sizes from 200 bytes to 100 KB, with as many small images as large ones.
            SampleImage.png(byteCount: 200 << (number * 9 / 31) + number * 17, seed: number)
        }
        let origin = origin
        names = try (0...Self.images).map { number in
            CacheKey(try CacheURL(origin.url("/\(number).png"))).description
        }
        numbers = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, $0) })
        model = OrderModel(
            maximumBytes: Self.range.upperBound, keys: names.compactMap { CacheKey($0) })
        watch = try DeletionWatch(directory)
    }

    /// Runs operations, with as many restarts of the cache as it takes.
    func run(operations: Int) async throws {
        do {
            try putExternalFiles()
            while !isOver(operations) {
                try await withTestScope { scope in
                    try await live(try await begin(in: scope), until: operations)
                }
                figures.restarts += 1
                model.restarted()
                if random.oneIn(2) { try passHour() }
            }
        } catch {
            throw TestFailure("\(error), after \(trace.joined(separator: "; "))")
        }
    }

    /// Whether this number of operations suffices, that is, whether they evicted enough.
    private func isOver(_ operations: Int) -> Bool {
        figures.operations >= operations && figures.evicted > operations / 20
    }

    /// Opens a cache on the directory, once the previous one has released it.
    private func begin(in scope: TestScope) async throws -> CacheFixture {
        try await eventually("the directory to be free") {
            do {
                return try CacheFixture(in: scope, directory: directory, origin: origin) {
                    [model] in
                    $0.limits = Self.limits(model)
                }
            } catch let error as CacheError where error.code == .directoryInUse {
                return nil
            }
        }
    }

    static func limits(_ model: OrderModel) -> Limits {
        var limits = Limits()
        limits.maximumBytes = model.maximumBytes
        limits.maximumEntries = model.maximumEntries == .max ? nil : model.maximumEntries
        limits.minimumFree = 0
        return limits
    }

    private func live(_ fixture: CacheFixture, until last: Int) async throws {
        try await waitUntil("the scan's end") { fixture.cache.statistics().isWhole }
        _ = try await check(fixture, gone: .init())
        while !isOver(last) {
            figures.operations += 1
            let gone = try await perform(fixture)
            figures.evicted += try await check(fixture, gone: gone)
            if figures.operations % 1000 == 0 { try await audit(fixture) }
            if random.oneIn(400) { return }
        }
    }

    // MARK: The comparison

    /// The names that an operation should have removed.
    struct Gone {
        /// The cache's victims.
        var victims = OrderModel.Victims()
        /// Entries and partials that a caller removed, or that the script moved itself.
        var asked: [String] = []
    }

    /// Waits until the cache is idle, then compares everything. Returns the number of evicted
    /// entries.
    private func check(_ fixture: CacheFixture, gone: Gone) async throws -> Int {
        var gone = gone
        // First the cache handles the operation's own events. Then it enforces the limits, as it
        // does every two seconds.
        _ = fixture.cache.statistics()
        fixture.cache.keepLimits()
        gone.victims.toTheWatermark += model.keptLimits()
        try await quiet(fixture)
        try await compareDeletions(gone)
        fixture.cache.read { $0.fetching.checkInvariants() }
        let order: [CacheKey] = fixture.cache.read { state in
            state.disk.index.inOrderOfUse(isReversed: true).map(\.key)
        }
        try expectEqual(order.map(\.description), model.entries.map { names[$0.image] }, "order")
        let statistics = fixture.cache.statistics()
        try expectEqual(statistics.bytesUsed, model.used, "bytes")
        try expectEqual(statistics.pinned.bytes, model.pinnedBytes, "bytes pinned")
        try compareNames()
        return gone.victims.atOnce.count + gone.victims.toTheWatermark.count
    }

    private func quiet(_ fixture: CacheFixture) async throws {
        try await waitUntil("the cache to be idle") {
            await withCheckedContinuation { continuation in
                fixture.cache.afterDirectoryWork { continuation.resume() }
            }
            return fixture.cache.read { state in
                let isResting =
                    state.fetching.scheduler.running == 0 && state.fetching.downloads.isEmpty
                return isResting && !state.disk.space.isEvicting
                    && state.disk.space.pendingUnlink == 0
            }
        }
    }

    /// Two threads remove files for a download. Its own thread removes what it needs at once, and
    /// the directory's thread evicts down to the watermark. Each thread has to keep the order.
    private func compareDeletions(_ gone: Gone) async throws {
        let victims = gone.victims
        let expected = (victims.atOnce + victims.toTheWatermark).map { names[$0] }
        let partials = victims.partials.map { names[$0] + ".part" }
        let all = (expected + partials + gone.asked).sorted()
        var seen: [String] = []
        try await waitUntil("\(all.count) names to be removed") {
            seen += try watch.take().filter { numbers[String($0.prefix(36))] != nil }
            return seen.count >= all.count
        }
        try expectEqual(seen.sorted(), all, "removed names")
        for part in [victims.atOnce, victims.toTheWatermark] {
            let names = part.map { self.names[$0] }
            try expectEqual(seen.filter { names.contains($0) }, names, "order of removal")
        }
    }

    private func compareNames() throws {
        let expected =
            model.entries.map { names[$0.image] } + model.partials.keys.map { names[$0] + ".part" }
        // The stray file is not a valid entry, so the cache ignores it.
        let present = try namesInDirectory().filter { numbers[String($0.prefix(36))] != nil }
        let own = present.filter { $0 != names[Self.stray] }
        try expectEqual(own.sorted(), expected.sorted(), "names")
    }

    func expectEqual<Value: Equatable>(_ is: Value, _ should: Value, _ what: String) throws {
        guard `is` != should else { return }
        throw TestFailure("operation \(figures.operations): \(what): \(`is`), expected \(should)")
    }
}
