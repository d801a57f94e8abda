import Testing

@testable import CacheDisk
@testable import CacheFetching

@Suite("State: random scripts", .timeLimit(.minutes(5)))
struct RandomScriptTests {
    /// The invariants are preconditions. If one fails, the test's argument in the log is the seed.
    @Test(arguments: [UInt64](1...12))
    func stateDecidesLikeTheSimpleModel(seed: UInt64) {
        var script = RandomScript(seed: seed, limit: [1, 4, 16][Int(seed % 3)])
        script.run(events: 2000)
        if let complaint = script.complaint { Issue.record("seed \(seed): \(complaint)") }
    }

    @Test(arguments: [UInt64](1...12))
    func victimsMatchTheSimpleModel(seed: UInt64) {
        var script = RandomSpaceScript(seed: seed)
        script.run(events: 2000)
        if let complaint = script.complaint { Issue.record("seed \(seed): \(complaint)") }
    }
}
