import CacheWire
import Testing

@testable import cached

/// Without real pressure there is no reaction: probes and cool-down together, on a virtual clock.
@Suite("Quiet", .timeLimit(.minutes(5)))
struct QuietTests {
    private let start = ContinuousClock.now

    /// The totals of a machine that has waited for memory before, for 1,050 s.
    private func totals(after waited: Duration = .zero) -> StallTotals {
        StallTotals(some: .seconds(1050) + waited, full: .seconds(600) + waited)
    }

    /// Simulates ten minutes. `events` contains the times when the kernel signals, and how long tasks have waited.
    private func reactions(
        to events: [(at: Duration, waited: Duration)]
    ) -> [PressureReactions.Action] {
        var guards = [PressureTrigger.warning, .critical].map { StallGuard($0, totals()) }
        var reactions = PressureReactions(coolDown: .seconds(10))
        var actions: [PressureReactions.Action] = []
        for second in 0...600 {
            let now = start + .seconds(second)
            for event in events where event.at == .seconds(second) {
                for index in guards.indices {
                    let isTrue = guards[index].eventArrived(totals(after: event.waited))
                    let level = guards[index].trigger.level
                    guard isTrue else { continue }
                    actions += reactions.pressureRose(level, validFor: .seconds(2.5), now: now)
                }
            }
            actions += reactions.timePassed(now: now)
        }
        return actions
    }

    @Test func tenQuietMinutesEvictNothing() {
        #expect(reactions(to: []).isEmpty)
    }

    @Test func aStallOf5msRightAfterTheStartEvictsNothing() {
        // The kernel counts all the waiting since boot, and signals both triggers.
        #expect(reactions(to: [(.zero, .milliseconds(5))]).isEmpty)
    }

    @Test func aLateFalseEventEvictsNothing() {
        #expect(reactions(to: [(.seconds(590), .milliseconds(5))]).isEmpty)
    }

    @Test func theSameEventAfterARealStallCausesAReaction() {
        let actions = reactions(to: [(.zero, .milliseconds(200))])
        #expect(actions == [.react(.warning), .react(.critical)])
    }
}
