import CacheKey
import Glibc
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// The order of evictions on real files, compared with a simple model.
///
/// `make order` runs 100,000 operations; `CACHED_TEST_OPERATIONS` and `CACHED_TEST_SEED` set
/// others.
@Suite("Cache: the order of eviction", .timeLimit(.minutes(OrderRun.isLong ? 120 : 10)))
struct OrderTests {
    @Test(arguments: OrderRun.Place.available)
    func evictsTheVictimsOfTheSimpleModelInItsOrder(place: OrderRun.Place) async throws {
        let seed = testSeed
        let start = ContinuousClock.now
        do {
            let figures = try await withTestScope { scope in
                let script = try OrderScript(seed: seed, at: place.directory(in: scope), in: scope)
                try await script.run(operations: place.operations)
                return script.figures
            }
            guard OrderRun.isLong else { return }
            print("\(place): \(figures), \(start.duration(to: .now)), CACHED_TEST_SEED=\(seed)")
        } catch {
            Issue.record("CACHED_TEST_SEED=\(seed) repeats it: \(error)")
        }
    }
}

/// The settings of a run, from the environment.
enum OrderRun {
    static let operations =
        getenv("CACHED_TEST_OPERATIONS").flatMap { Int(String(cString: $0)) } ?? 3000
    static var isLong: Bool { operations > 10_000 }

    /// The location of the files. A disk counts blocks and waits for them; memory is fast.
    enum Place {
        case disk, memory

        /// tmpfs keeps attributes, and so pins, since Linux 6.6.
        static let available =
            CacheFolder.canKeepAttributesInMemory ? [Place.memory, disk] : [disk]

        var operations: Int {
            self == Self.available[0] ? OrderRun.operations : OrderRun.operations / 10
        }

        /// Creates a new directory there.
        func directory(in scope: TestScope) throws -> String {
            switch self {
            case .disk: try TemporaryDirectory(in: scope).path
            case .memory: try TemporaryDirectory(inMemory: scope).path
            }
        }
    }
}
