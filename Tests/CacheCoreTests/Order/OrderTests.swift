import CacheKey
import Glibc
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

/// The order in which entries go, on real files, against a plain model.
///
/// `make order` runs 100,000 operations; `CACHED_TEST_OPERATIONS` and `CACHED_TEST_SEED` set others.
@Suite("Cache: the order of eviction", .timeLimit(.minutes(OrderRun.isLong ? 120 : 10)))
struct OrderTests {
    @Test(arguments: OrderRun.Place.available)
    func victimsAreThoseOfThePlainModelInItsOrder(place: OrderRun.Place) async throws {
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

/// What one run is told from outside.
enum OrderRun {
    static let operations =
        getenv("CACHED_TEST_OPERATIONS").flatMap { Int(String(cString: $0)) } ?? 3000
    static var isLong: Bool { operations > 10_000 }

    /// Where the files are: a disk counts blocks and waits for them, memory is quick.
    enum Place {
        case disk, memory

        /// tmpfs keeps attributes, and so pins, since Linux 6.6.
        static let available =
            CacheFolder.canKeepAttributesInMemory ? [Place.memory, disk] : [disk]

        var operations: Int {
            self == Self.available[0] ? OrderRun.operations : OrderRun.operations / 10
        }

        /// A new directory there.
        func directory(in scope: TestScope) throws -> String {
            switch self {
            case .disk: try TemporaryDirectory(in: scope).path
            case .memory: try TemporaryDirectory(inMemory: scope).path
            }
        }
    }
}
