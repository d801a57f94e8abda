import TestSupport
import Testing

/// Promise: whenever a daemon is killed, every name without a suffix is a complete image, before and
/// after, and every image reported as `cached` exists.
@Suite("Kills", .serialized, .timeLimit(.minutes(isLongForm ? 90 : 10)))
struct KillTests {
    @Test func killsCorruptNothingAndLoseNothing() async throws {
        try await Promise("kill -9 at any time").test { figures in
            try await withTestScope { scope in
                let torture = try await KillTorture(seed: testSeed, in: scope)
                try await torture.run(lives: rounds(short: 5, long: 1042))
                figures = torture.figures
                if isWholeLongForm {
                    #expect(torture.kills >= 1000 && torture.underWay >= 10_000)
                    #expect(torture.required >= 10_000 && torture.present >= 10_000)
                    #expect(torture.imagesRead >= 10_000)
                }
            }
        }
    }
}
