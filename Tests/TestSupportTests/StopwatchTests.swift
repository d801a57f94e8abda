import Testing

@testable import TestSupport

@Suite("Stopwatch", .timeLimit(.minutes(5)))
struct StopwatchTests {
    private let start = ContinuousClock.now

    private func moment(_ milliseconds: Int) -> ContinuousClock.Instant {
        start + .milliseconds(milliseconds)
    }

    private func stalled(
        _ stalls: ProcessorStalls, _ from: Int, _ until: Int, now: Int
    ) -> Duration {
        stalls.time(from: moment(from), until: moment(until), now: moment(now))
    }

    @Test func aProcessorSeenInTimeHasNoStall() {
        var stalls = ProcessorStalls(processors: 1, now: start)
        for time in stride(from: 0, through: 100, by: 10) { stalls.markSeen(0, now: moment(time)) }
        #expect(stalled(stalls, 0, 100, now: 100) == .zero)
    }

    @Test func aLateProcessorWasStalledSinceItsDeadline() {
        var stalls = ProcessorStalls(processors: 1, now: start)
        stalls.markSeen(0, now: moment(60))
        #expect(stalled(stalls, 0, 60, now: 60) == .milliseconds(50))
        #expect(stalled(stalls, 0, 30, now: 60) == .milliseconds(20))
        #expect(stalled(stalls, 50, 100, now: 60) == .milliseconds(10))
        #expect(stalled(stalls, 60, 100, now: 60) == .zero)
        #expect(stalled(stalls, 0, 5, now: 60) == .zero)
    }

    @Test func anOngoingStallCounts() {
        let stalls = ProcessorStalls(processors: 2, now: start)
        #expect(stalled(stalls, 0, 30, now: 30) == .milliseconds(20))
    }

    @Test func overlappingStallsCountOnce() {
        var stalls = ProcessorStalls(processors: 3, now: start)
        stalls.markSeen(2, now: moment(5))
        stalls.markSeen(2, now: moment(30))
        stalls.markSeen(0, now: moment(50))
        stalls.markSeen(1, now: moment(70))
        // Stalls: 15 to 30, 10 to 50 and 10 to 70; until now also from 40, 60 and 80.
        #expect(stalled(stalls, 0, 100, now: 100) == .milliseconds(90))
        #expect(stalled(stalls, 0, 65, now: 70) == .milliseconds(55))
        #expect(stalled(stalls, 0, 12, now: 70) == .milliseconds(2))
    }

    @Test func consecutiveStallsAddUp() {
        var stalls = ProcessorStalls(processors: 1, now: start)
        for time in [30, 60, 65, 100] { stalls.markSeen(0, now: moment(time)) }
        #expect(stalled(stalls, 0, 100, now: 100) == .milliseconds(20 + 20 + 25))
        #expect(stalled(stalls, 35, 62, now: 100) == .milliseconds(20))
    }

    @Test func timeAdvances() async throws {
        let watch = Stopwatch()
        try await waitUntil("100 ms") { watch.time > .milliseconds(100) }
        #expect(watch.time(until: .now) >= .milliseconds(100))
    }
}
