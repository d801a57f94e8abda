import Testing

@testable import TestSupport

@Suite("Stopwatch", .timeLimit(.minutes(5)))
struct StopwatchTests {
    private let start = ContinuousClock.now

    private func moment(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    private func away(
        _ absences: Absences, _ from: Int, _ until: Int, now: Int
    ) -> Duration {
        absences.time(from: moment(from), until: moment(until), now: moment(now))
    }

    @Test func aProcessorThatIsSeenInTimeWasNeverAway() {
        var absences = Absences(processors: 1, now: start)
        for time in stride(from: 0, through: 100, by: 10) { absences.isThere(0, now: moment(time)) }
        #expect(away(absences, 0, 100, now: 100) == .zero)
    }

    @Test func whatIsLateWasAwayFromWhenItShouldHaveBeenSeen() {
        var absences = Absences(processors: 1, now: start)
        absences.isThere(0, now: moment(60))
        #expect(away(absences, 0, 60, now: 60) == .milliseconds(50))
        #expect(away(absences, 0, 30, now: 60) == .milliseconds(20))
        #expect(away(absences, 50, 100, now: 60) == .milliseconds(10))
        #expect(away(absences, 60, 100, now: 60) == .zero)
        #expect(away(absences, 0, 5, now: 60) == .zero)
    }

    @Test func anAbsenceCountsBeforeItsEnd() {
        let absences = Absences(processors: 2, now: start)
        #expect(away(absences, 0, 30, now: 30) == .milliseconds(20))
    }

    @Test func twoThatAreAwayAtOnceCountOnce() {
        var absences = Absences(processors: 3, now: start)
        absences.isThere(2, now: moment(5))
        absences.isThere(2, now: moment(30))
        absences.isThere(0, now: moment(50))
        absences.isThere(1, now: moment(70))
        // 15 to 30, 10 to 50, 10 to 70, and now from 40, 60 and 80 on.
        #expect(away(absences, 0, 100, now: 100) == .milliseconds(90))
        #expect(away(absences, 0, 65, now: 70) == .milliseconds(55))
        #expect(away(absences, 0, 12, now: 70) == .milliseconds(2))
    }

    @Test func onesInARowAddUp() {
        var absences = Absences(processors: 1, now: start)
        for time in [30, 60, 65, 100] { absences.isThere(0, now: moment(time)) }
        #expect(away(absences, 0, 100, now: 100) == .milliseconds(20 + 20 + 25))
        #expect(away(absences, 35, 62, now: 100) == .milliseconds(20))
    }

    @Test func itsTimeGoesOn() async throws {
        let watch = Stopwatch()
        try await waitUntil("100 ms") { watch.time > .milliseconds(100) }
        #expect(watch.time(until: .now) >= .milliseconds(100))
    }
}
