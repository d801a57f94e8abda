import CacheWire
import Testing

@testable import cached

/// The times of reactions to pressure, as scripts on a virtual clock.
@Suite struct PressureReactionTests {
    /// Seconds after the start of the script.
    private let start = ContinuousClock.now
    private var reactions = PressureReactions(coolDown: .seconds(10))

    private func at(_ seconds: Double) -> ContinuousClock.Instant {
        start + .seconds(seconds)
    }

    /// A report like those of the kernel's triggers, valid for 2.5 s.
    private mutating func rise(_ level: PressureLevel, _ seconds: Double)
        -> [PressureReactions.Action]
    {
        reactions.pressureRose(level, validFor: .seconds(2.5), now: at(seconds))
    }

    /// A report like that of a FIFO, which never reports the end of pressure.
    private mutating func byte(_ seconds: Double) -> [PressureReactions.Action] {
        reactions.pressureRose(.warning, validFor: nil, now: at(seconds))
    }

    private mutating func pass(_ seconds: Double) -> [PressureReactions.Action] {
        reactions.timePassed(now: at(seconds))
    }

    private mutating func ask(_ level: PressureLevel, _ seconds: Double)
        -> [PressureReactions.Action]
    {
        reactions.requested(level, now: at(seconds))
    }

    private func expect(
        _ actions: [PressureReactions.Action], _ expected: PressureReactions.Action...,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(actions == expected, sourceLocation: location)
    }

    @Test mutating func tenQuietMinutesDoNothing() {
        for second in 0...600 { expect(pass(Double(second))) }
    }

    @Test mutating func theFirstPressureCausesAReactionAtOnce() {
        expect(rise(.warning, 0), .react(.warning))
        expect(pass(10))
        expect(rise(.warning, 10), .react(.warning))
    }

    @Test mutating func pressureThatLastsCausesAReactionAtTheEndOfTheCoolDown() {
        expect(rise(.warning, 0), .react(.warning))
        for second in [2.0, 4, 6, 8] { expect(rise(.warning, second), .wakeAt(at(10))) }
        expect(pass(9), .wakeAt(at(10)))
        expect(pass(10), .react(.warning))
        expect(pass(20))
    }

    @Test mutating func pressureThatIsOverAtTheEndOfTheCoolDownIsForgotten() {
        expect(rise(.warning, 0), .react(.warning))
        expect(rise(.warning, 4), .wakeAt(at(10)))
        expect(pass(10))
        expect(pass(600))
    }

    @Test mutating func aReportWithoutEndStaysValid() {
        expect(byte(0), .react(.warning))
        expect(byte(1), .wakeAt(at(10)))
        expect(pass(10), .react(.warning))
        expect(pass(20))
    }

    @Test mutating func aLaterReportDoesNotShortenOneWithoutEnd() {
        expect(byte(0), .react(.warning))
        expect(byte(1), .wakeAt(at(10)))
        expect(rise(.warning, 2), .wakeAt(at(10)))
        expect(pass(10), .react(.warning))
    }

    @Test mutating func criticalPressureDoesNotWaitForTheCoolDownOfAWarning() {
        expect(rise(.warning, 0), .react(.warning))
        expect(rise(.warning, 2), .wakeAt(at(10)))
        expect(rise(.critical, 3), .react(.critical))
        // The critical reaction answered the warning too, and both now wait for its cool-down.
        expect(pass(10))
        expect(rise(.warning, 12), .wakeAt(at(13)))
        expect(rise(.critical, 12.5), .wakeAt(at(13)))
        expect(pass(13), .react(.critical))
    }

    @Test mutating func criticalPressureCausesOneReactionInACoolDown() {
        expect(rise(.critical, 0), .react(.critical))
        expect(rise(.critical, 2), .wakeAt(at(10)))
        expect(rise(.critical, 9), .wakeAt(at(10)))
        expect(pass(10), .react(.critical))
    }

    @Test mutating func aWarningWaitsForTheCoolDownOfCriticalPressure() {
        expect(rise(.critical, 0), .react(.critical))
        expect(rise(.warning, 0), .wakeAt(at(10)))
        expect(rise(.warning, 9), .wakeAt(at(10)))
        expect(pass(10), .react(.warning))
    }

    @Test mutating func aWarningThatLastsIsHandledAfterCriticalPressureIsOver() {
        expect(rise(.critical, 0), .react(.critical))
        expect(rise(.critical, 2), .wakeAt(at(10)))
        expect(rise(.warning, 9), .wakeAt(at(10)))
        expect(pass(10), .react(.warning))
    }

    @Test mutating func aRequestOfAPersonNeverWaits() {
        for second in 0..<5 {
            expect(ask(.warning, Double(second)), .react(.warning))
            expect(ask(.critical, Double(second)), .react(.critical))
        }
    }

    @Test mutating func aRequestStartsACoolDownForTheSources() {
        expect(ask(.warning, 0), .react(.warning))
        expect(rise(.warning, 1), .wakeAt(at(10)))
        expect(rise(.critical, 2), .react(.critical))
    }

    @Test mutating func aRequestForAWarningLeavesCriticalPressureWaiting() {
        expect(rise(.critical, 0), .react(.critical))
        expect(rise(.critical, 8), .wakeAt(at(10)))
        expect(ask(.warning, 9), .react(.warning), .wakeAt(at(10)))
        expect(pass(10), .react(.critical))
    }

    @Test mutating func anHourOfPressureCausesOneReactionInEachCoolDown() {
        var count = 0
        for second in stride(from: 0.0, to: 3600, by: 2) {
            let actions = rise(.warning, second) + pass(second)
            count += actions.count { $0 == .react(.warning) }
        }
        #expect(count == 360)
    }
}
