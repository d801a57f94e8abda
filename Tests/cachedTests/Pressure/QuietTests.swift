import CacheWire
import Testing

@testable import cached

/// What is no pressure leads to no reaction: probes and cool-down together, on a virtual clock.
@Suite("Quiet", .timeLimit(.minutes(5)))
struct QuietTests {
    private let start = ContinuousClock.now

    /// A machine that has waited for memory before, 1,050 s in all.
    private func totals(after waited: Duration = .zero) -> StallTotals {
        StallTotals(some: .seconds(1050) + waited, full: .seconds(600) + waited)
    }

    /// Runs ten minutes; `events` says when the kernel signals, and how long tasks have waited by then.
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
                    actions += reactions.pressureRose(level, standingFor: .seconds(2.5), now: now)
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
        // The kernel counts it as all the waiting since the boot, and signals both triggers.
        #expect(reactions(to: [(.zero, .milliseconds(5))]).isEmpty)
    }

    @Test func aFalseEventThatComesLateEvictsNothing() {
        #expect(reactions(to: [(.seconds(590), .milliseconds(5))]).isEmpty)
    }

    @Test func theSameEventAfterARealStallIsPressure() {
        let actions = reactions(to: [(.zero, .milliseconds(200))])
        #expect(actions == [.react(.warning), .react(.critical)])
    }
}
