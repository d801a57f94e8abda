import TestSupport
import Testing

/// Promise: after a power cut every name without a suffix is a complete image, and every image that was
/// reported as `cached` before exists.
@Suite(
    "Power cuts", .serialized, .timeLimit(.minutes(isLongForm ? 120 : 10)),
    .enabled(
        if: LoopFileSystem.obstacle == nil,
        Comment(rawValue: "needs a file system to cut off: \(LoopFileSystem.obstacle ?? "")")))
struct PowerCutTests {
    /// Small blocks leave the least space for attributes that ext4 ever offers.
    @Test(arguments: [4096, 1024])
    func powerCutsCorruptNothingAndLoseNothing(blockSize: Int) async throws {
        try await Promise("a power cut, ext4 with blocks of \(blockSize)").test { figures in
            try await withTestScope { scope in
                let torture = try await PowerCutTorture(
                    seed: testSeed, blockSize: blockSize, in: scope)
                try await torture.run(cuts: rounds(short: 3, long: 500))
                figures = torture.figures
                if isWholeLongForm {
                    #expect(torture.cuts >= 500 && torture.underWay >= 5000)
                    #expect(torture.required >= 5000 && torture.present >= 5000)
                }
            }
        }
    }
}
