import TestSupport
import Testing

/// A promise of the cache, put to the test. Every suite of this target is about one.
///
///     try await Promise("kill -9 loses nothing").test { figures in
///         …
///         figures.append("1000 kills")
///     }
///
/// `make torture` runs them in their long form and prints a line for each: the promise, the figures and
/// the seed. A failure names the seed that repeats it.
struct Promise {
    let name: String

    init(_ name: String) {
        self.name = name
    }

    func test(
        _ body: (inout [String]) async throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let start = ContinuousClock.now
        var figures: [String] = []
        do {
            try await body(&figures)
        } catch {
            Issue.record(
                "CACHED_TEST_SEED=\(testSeed) repeats this: \(error)",
                sourceLocation: sourceLocation)
        }
        guard isLongForm else { return }
        figures.append("\(start.duration(to: .now).components.seconds) s")
        figures.append("seed \(testSeed)")
        print("torture: \(name): \(figures.joined(separator: ", "))")
    }
}
