import CacheWire
import Testing

@testable import cached

/// How far a reaction evicts, for every author of a report, setting and state of the memory.
@Suite("Eviction rule", .timeLimit(.minutes(5)))
struct EvictionRuleTests {
    private static let plenty = MemoryFigures(machine: 1000, available: 900)
    private static let little = MemoryFigures(machine: 1000, available: 49)
    private static let nothing = MemoryFigures(machine: 1000, available: 24)

    private func rule(
        _ cause: PressureCause, _ level: PressureLevel = .critical,
        _ evicts: PressureEviction = .auto
    ) -> EvictionRule {
        EvictionRule(
            PressureReport(level: level, cause: cause, source: "test"), evicts)
    }

    /// The shares, in percent, that the steps of a reaction keep if the memory stays as it is, and the last reason.
    private func steps(
        of rule: EvictionRule, isInMemory: Bool = false, _ figures: MemoryFigures
    ) -> (shares: [Int], end: EvictionRule.Reason?) {
        var shares: [Int] = []
        while shares.count < 100 {
            let verdict = rule.verdict(
                afterSteps: shares.count, isInMemory: isInMemory, figures)
            switch verdict {
            case .evict(let share, _): shares.append(Int((share * 100).rounded()))
            case .stop(let reason): return (shares, reason)
            }
        }
        return (shares, nil)
    }

    @Test(arguments: [PressureCause.person, .serviceManager], [PressureLevel.warning, .critical])
    func aRequestEvictsAtOnceHoweverMuchMemoryThereIs(cause: PressureCause, level: PressureLevel) {
        let steps = steps(of: rule(cause, level), Self.plenty)
        #expect(steps.shares == [level == .warning ? 75 : 50])
        #expect(steps.end == .requested)
        #expect(rule(cause, level).sparesNewImages == (level == .warning))
    }

    @Test func foundPressureEvictsNothingFromADiskWhileThereIsMemory() {
        let steps = steps(of: rule(.daemon), Self.plenty)
        #expect(steps.shares.isEmpty)
        #expect(steps.end == .noShortage)
        #expect(rule(.daemon).sparesNewImages)
    }

    @Test func foundPressureEvictsNothingIfTheMemoryIsUnknown() {
        #expect(steps(of: rule(.daemon), MemoryFigures()).shares.isEmpty)
    }

    @Test(arguments: [
        (PressureLevel.warning, little), (.critical, little), (.warning, nothing),
    ])
    func aShortageEvictsInStepsToTheLowerOfTheTwoLevels(
        level: PressureLevel, figures: MemoryFigures
    ) {
        let steps = steps(of: rule(.daemon, level), figures)
        #expect(steps.shares == [95, 90, 85, 80, 75])
        #expect(steps.end == .shortage)
    }

    @Test func acuteShortageEvictsInStepsToTheShareOfCriticalPressure() {
        let steps = steps(of: rule(.daemon, .critical), Self.nothing)
        #expect(steps.shares == [95, 90, 85, 80, 75, 70, 65, 60, 55, 50])
    }

    @Test func evictionEndsWhenMemoryIsNoLongerShort() {
        let rule = rule(.daemon)
        let first = rule.verdict(afterSteps: 0, isInMemory: false, Self.nothing)
        #expect(first == .evict(toShare: 0.95, .shortage))
        let second = rule.verdict(afterSteps: 1, isInMemory: false, Self.plenty)
        #expect(second == .stop(.noShortage))
    }

    @Test func inMemoryFoundPressureEvictsOneStepAndMoreOnlyInAShortage() {
        let rule = rule(.daemon, .warning)
        let first = rule.verdict(afterSteps: 0, isInMemory: true, Self.plenty)
        #expect(first == .evict(toShare: 0.95, .inMemory))
        #expect(steps(of: rule, isInMemory: true, Self.plenty).shares == [95])
        #expect(steps(of: rule, isInMemory: true, Self.little).shares == [95, 90, 85, 80, 75])
    }

    @Test func alwaysEvictsForFoundPressureToo() {
        let steps = steps(of: rule(.daemon, .warning, .always), Self.plenty)
        #expect(steps.shares == [75])
        #expect(steps.end == .always)
        #expect(self.steps(of: rule(.person, .warning, .always), Self.plenty).end == .requested)
    }

    @Test func neverEvictsOnlyForPeople() {
        for cause in [PressureCause.daemon, .serviceManager] {
            let steps = steps(of: rule(cause, .critical, .never), isInMemory: true, Self.nothing)
            #expect(steps.shares.isEmpty)
            #expect(steps.end == .never)
        }
        #expect(steps(of: rule(.person, .critical, .never), Self.plenty).shares == [50])
    }
}
