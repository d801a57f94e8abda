import TestSupport
import Testing

/// What is fetched, confirmed, served stale and withdrawn, on real files from a real origin, against a plain
/// model.
@Suite("Cache: reuse by a plain model", .timeLimit(.minutes(30)))
struct ReuseModelTests {
    @Test func answersAndFilesAreThoseOfThePlainModel() async throws {
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
