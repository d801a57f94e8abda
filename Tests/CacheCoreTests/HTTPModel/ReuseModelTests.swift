import TestSupport
import Testing

/// Random operations on a cache with real files and a real origin have the results of a simple model.
@Suite("Cache: reuse by a simple model", .timeLimit(.minutes(30)))
struct ReuseModelTests {
    @Test func resultsAndFilesAgreeWithTheModel() async throws {
        let seed = testSeed
        do {
            try await withTestScope { scope in
                try await ReuseScript(seed: seed, in: scope)
                    .run(operations: isLongForm ? 10_000 : 500)
            }
        } catch {
            Issue.record("CACHED_TEST_SEED=\(seed) repeats it: \(error)")
        }
    }
}
