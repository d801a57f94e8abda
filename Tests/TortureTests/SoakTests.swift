import CacheWire
import Glibc
import TestSupport
import Testing

/// A daemon that is used in every way at once, for any time, ends as it began: its statistics agree with
/// the disk, and it uses no more of the machine.
///
///     make soak                     # five minutes
///     make soak SOAK=24h
@Suite("Soak", .serialized)
struct SoakTests {
    /// The duration: `CACHED_TEST_SOAK`, or else some seconds.
    private static let time =
        getenv("CACHED_TEST_SOAK").flatMap { Duration(text: String(cString: $0)) }
        ?? .seconds(isLongForm ? 60 : 10)

    @Test func aMixedLoadLeaksNothing() async throws {
        try await Promise("a mixed load for \(Self.time): the statistics are right, nothing grows")
            .test { figures in
                try await withTestScope { scope in
                    let environment = try await SoakEnvironment(in: scope)
                    try await SoakLoad(environment: environment).run(
                        for: Self.time, figures: &figures)
                }
            }
    }
}

extension Duration {
    /// Parses `30s`, `5min`, `24h`.
    fileprivate init?(text: String) {
        for (unit, seconds) in [("min", 60), ("h", 3600), ("s", 1)] where text.hasSuffix(unit) {
            guard let number = Int(text.dropLast(unit.count)) else { return nil }
            self = .seconds(number * seconds)
            return
        }
        return nil
    }
}
