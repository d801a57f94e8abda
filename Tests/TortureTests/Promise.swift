import TestSupport
import Testing

/// Something the cache promises, put to the test; every suite of this target is about one.
///
///     try await Promise("kill -9 loses nothing").test { figures in
///         …
///         figures.append("1000 kills")
///     }
///
/// `make torture` runs them in their long form, which prints a line for each: the promise, the
/// figures, the seed. A failure tells the seed that repeats it.
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
                "CACHED_TEST_SEED=\(testSeed) repeats it: \(error)", sourceLocation: sourceLocation)
        }
        guard isLongForm else { return }
        figures.append("\(start.duration(to: .now).components.seconds) s")
        figures.append("seed \(testSeed)")
        print("torture: \(name): \(figures.joined(separator: ", "))")
    }
}
