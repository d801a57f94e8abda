import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Downloads that are retried, and failures that are remembered.
@Suite("State: retries", .timeLimit(.minutes(5)))
struct RetryScriptTests {
    let script = StateScript(transferLimit: 1, retry: RetryPolicy())
    private let start = Sample.moment

    private func fails(
        _ image: String, _ failure: Failure = .http(503), serverDelay: Int64? = nil,
        isOffline: Bool = false, after pause: Duration = .zero
    ) -> [String] {
        let failed = FailedTransfer(
            failure: failure, serverDelay: serverDelay, isOffline: isOffline)
        return script.fails(image, failed, now: start + pause)
    }

    private func pausesEnd(after pause: Duration) -> [String] {
        script.event { $0.fetching.pausesEnded(now: start.instant + pause, &$1) }
    }

    private func wants(
        _ image: String, after seconds: Int64, isRefresh: Bool = false
    ) -> [String] {
        let id = script.state.fetching.waiterBegan()
        let said = script.want(
            image, by: id, FetchOptions(isRefresh: isRefresh),
            now: (Sample.now + seconds).rawValue)
        return said + script.event { $0.fetching.waiterNamed(id, &$1) }
    }

    @Test func aPauseReleasesTheSlotForTheNextDownload() {
        script.caller("one", wants: "a")
        script.caller("two", wants: "b")
        _ = script.asks("a", for: 1, of: 1000)
        #expect(fails("a") == ["start b", "plan"])
        #expect(script.phase("a") == .retrying)
        #expect(script.state.fetching.scheduler.running == 1)
        #expect(script.state.disk.space.reserved == 0)
        let progress = script.state.fetching.downloads[script.key("a")]?.progress()
        #expect(progress?.failure?.httpStatus == 503)
        #expect(progress?.failure?.retryAt.map { $0 > Sample.now } == true)
    }

    @Test func aDownloadQueuesAgainAfterItsPause() {
        script.caller("one", wants: "a")
        _ = fails("a")
        #expect(pausesEnd(after: .milliseconds(999)) == [])
        #expect(pausesEnd(after: .seconds(2)) == ["start a"])
        #expect(pausesEnd(after: .seconds(2)) == [])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == ["tell one"])
        #expect(script.lookup("a")?.failure == nil)
    }

    @Test func reportsTheFourthFailureOnceToEveryWaiter() {
        script.caller("one", wants: "a")
        script.caller("two", wants: "a")
        for attempt in 1...3 {
            #expect(fails("a", after: .seconds(attempt * 100)) == ["plan"])
            #expect(pausesEnd(after: .seconds(attempt * 100 + 8)) == ["start a"])
        }
        #expect(Set(fails("a")) == ["tell one: a http", "tell two: a http"])
        #expect(script.state.fetching.counters.retried == 3)
        #expect(script.state.fetching.counters.failed == 1)
    }

    @Test func attemptsThatBringPartOfTheImageDoNotCount() {
        script.caller("one", wants: "a")
        var failed = FailedTransfer(failure: Failure(.truncated, "cut"))
        failed.hasProgressed = true
        for attempt in 1...40 {
            #expect(
                script.fails("a", failed, now: start + .seconds(attempt * 100)) == ["plan"])
            // The pause does not grow either.
            #expect(pausesEnd(after: .seconds(attempt * 100 + 2)) == ["start a"])
        }
        for attempt in 41...43 {
            #expect(fails("a", after: .seconds(attempt * 100)) == ["plan"])
            #expect(pausesEnd(after: .seconds(attempt * 100 + 8)) == ["start a"])
        }
        #expect(fails("a") == ["tell one: a http"])
    }

    @Test func aShortenedPauseDoesNotEndALaterOne() {
        script.caller("one", wants: "a")
        _ = fails("a", .http(500), serverDelay: 20)
        #expect(wants("a", after: 13, isRefresh: true).contains("start a"))
        _ = fails("a", .http(500), serverDelay: 20, after: .seconds(13))
        #expect(pausesEnd(after: .seconds(20)) == [])
        #expect(pausesEnd(after: .seconds(33)) == ["start a"])
    }

    @Test func honorsRetryAfter() {
        script.caller("one", wants: "a")
        _ = fails("a", .http(500), serverDelay: 100)
        #expect(pausesEnd(after: .seconds(99)) == [])
        #expect(pausesEnd(after: .seconds(100)) == ["start a"])
    }

    @Test func wakesTheThreadOnlyForAnEarlierDeadline() {
        script.caller("one", wants: "a")
        #expect(fails("a", .http(500), serverDelay: 100) == ["plan"])
        script.caller("two", wants: "b")
        #expect(fails("b", .http(500), serverDelay: 200) == [])
        script.caller("three", wants: "c")
        #expect(fails("c") == ["plan"])
    }

    @Test(arguments: [Failure.http(404), Failure(.notAnImage, ""), Failure(.unverifiable, "")])
    func doesNotRetryFinalFailures(failure: Failure) {
        script.caller("one", wants: "a")
        #expect(fails("a", failure) == ["tell one: a \(failure.kind)"])
    }

    @Test func thePauseEndsWhenTheLastWaiterLeaves() {
        let one = script.state.fetching.waiterBegan()
        _ = script.want("a", by: one)
        _ = fails("a")
        #expect(script.leaves(one) == [])
        #expect(script.state.fetching.downloads.isEmpty)
        #expect(pausesEnd(after: .seconds(10)) == [])
    }

    @Test func retriesDetachedDownloadsToo() {
        _ = script.want("a", by: nil)
        #expect(fails("a") == ["plan"])
        #expect(pausesEnd(after: .seconds(2)) == ["start a"])
    }

    @Test func removingDuringAPauseEndsTheDownload() {
        script.caller("one", wants: "a")
        _ = fails("a")
        #expect(script.removes("a") == ["discard a", "tell one: a removed"])
        #expect(pausesEnd(after: .seconds(10)) == [])
    }

    @Test func drainingEndsPauses() {
        script.caller("one", wants: "a")
        _ = fails("a")
        #expect(script.event { $0.fetching.drainBegan(&$1) } == ["tell one: a shuttingDown"])
        #expect(pausesEnd(after: .seconds(10)) == [])
    }

    @Test func aCallerArrivingDuringAPauseJoinsTheDownload() {
        script.caller("one", wants: "a")
        _ = fails("a")
        #expect(wants("a", after: 1) == [])
        #expect(script.state.fetching.counters.joined == 1)
    }

    @Test func aRefreshEndsThePause() {
        script.caller("one", wants: "a")
        _ = fails("a")
        #expect(wants("a", after: 0, isRefresh: true) == ["start a"])
        #expect(pausesEnd(after: .seconds(10)) == [])
    }

    /// A refresh by another caller takes none of a waiting caller's four attempts.
    @Test func attemptsForcedByARefreshDoNotCount() {
        script.caller("one", wants: "a")
        _ = fails("a")
        for _ in 0..<10 {
            #expect(wants("a", after: 0, isRefresh: true) == ["start a"])
            _ = fails("a")
            #expect(script.phase("a") == .retrying)
        }
        for minutes in 1...3 {
            let time = Duration.seconds(60 * minutes)
            #expect(script.phase("a") == .retrying)
            #expect(pausesEnd(after: time) == ["start a"])
            _ = fails("a", after: time)
        }
        #expect(script.state.fetching.downloads.isEmpty)
    }

    // MARK: The negative cache

    @Test func ignoresAFailureDatedInTheFuture() {
        script.caller("one", wants: "a")
        _ = fails("a", .http(404))
        #expect(wants("a", after: -1000) == ["start a"])
    }

    @Test func returnsARememberedFailureForAWhile() {
        script.caller("one", wants: "a")
        _ = fails("a", .http(404))
        #expect(script.lookup("a")?.failure?.retryAt == Sample.now + 60)
        #expect(wants("a", after: 59) == ["tell nobody: a http"])
        #expect(script.state.fetching.counters.failuresRepeated == 1)
        #expect(wants("a", after: 60) == ["start a"])
    }

    @Test func aRefreshForgetsTheFailure() {
        script.caller("one", wants: "a")
        _ = fails("a", .http(404))
        #expect(wants("a", after: 1, isRefresh: true) == ["start a"])
        #expect(script.lookup("a")?.failure == nil)
    }

    @Test func leavingAndReturningDoesNotRetryEarlier() {
        let one = script.state.fetching.waiterBegan()
        _ = script.want("a", by: one)
        _ = fails("a", .http(500), serverDelay: 100)
        _ = script.leaves(one)
        #expect(wants("a", after: 99) == ["tell nobody: a http"])
        #expect(wants("a", after: 100) == ["start a"])
    }

    @Test func doesNotRememberOfflineFailures() {
        script.caller("one", wants: "a")
        _ = fails("a", Failure(.unresolved, ""), isOffline: true)
        #expect(script.phase("a") == .retrying)
        _ = script.removes("a")
        #expect(wants("a", after: 0) == ["start a"])
    }

    // MARK: Callers with less patience

    private var end: ContinuousClock.Instant { start.instant + .seconds(5) }

    private func deadlinesPass(after time: Duration) -> [String] {
        script.event { $0.fetching.deadlinesPassed(now: start.instant + time, &$1) }
    }

    @Test func aCallerWithOneAttemptHasTheFirstFailureAndTheDownloadGoesOnForOthers() {
        script.caller("one", wants: "a", attempts: 1)
        script.caller("patient", wants: "a")
        #expect(fails("a") == ["plan", "tell one: a http"])
        #expect(script.phase("a") == .retrying)
        #expect(pausesEnd(after: .seconds(2)) == ["start a"])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == ["tell patient"])
    }

    @Test func aDownloadEndsWhenNoCallerTakesAnotherAttempt() {
        script.caller("one", wants: "a", attempts: 2)
        #expect(fails("a") == ["plan"])
        #expect(pausesEnd(after: .seconds(2)) == ["start a"])
        #expect(fails("a") == ["tell one: a http"])
        #expect(script.phase("a") == nil)
        #expect(script.lookup("a")?.failure?.httpStatus == 503)
    }

    @Test func whatHasNotComeAtTheDeadlineFailsForThatCallerAlone() {
        script.caller("one", wants: "a", deadline: end) { #expect($0 == ["start a", "plan"]) }
        script.caller("patient", wants: "a")
        #expect(script.state.fetching.nextCheck(now: start.instant) == end)
        #expect(deadlinesPass(after: .seconds(4)) == [])
        #expect(deadlinesPass(after: .seconds(5)) == ["tell one: a deadline"])
        #expect(script.lookup("a")?.failure == nil)
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == ["tell patient"])
    }

    @Test func aDownloadOnlyForACallerWhoseTimeIsOverStops() {
        script.caller("one", wants: "a", deadline: end)
        #expect(deadlinesPass(after: .seconds(5)) == ["cancel a", "tell one: a deadline"])
        #expect(script.phase("a") == nil)
        #expect(deadlinesPass(after: .seconds(50)) == [])
    }

    @Test func anotherNetworkEndsNoCallersTime() {
        script.caller("one", wants: "a", deadline: end)
        #expect(script.event { $0.fetching.networkChanged(now: start.instant, &$1) } == [])
        #expect(deadlinesPass(after: .seconds(5)) == ["cancel a", "tell one: a deadline"])
    }

    // MARK: The schedule

    @Test func retriesComeDueInOrder() {
        var random = SeededGenerator(seed: 3)
        var schedule = Schedule<Int>()
        let start = ContinuousClock.now
        var earliest = Int.max
        for _ in 0..<500 {
            let pause = Int.random(in: 0..<1000, using: &random)
            let isNext = schedule.add(pause, at: start + .seconds(pause))
            #expect(isNext == (pause < earliest))
            earliest = min(earliest, pause)
            #expect(schedule.earliest == start + .seconds(earliest))
        }
        var order: [Int] = []
        while let due = schedule.takeDue(now: start + .seconds(1000)) { order.append(due.event) }
        #expect(order.count == 500)
        #expect(order == order.sorted())
        #expect(schedule.earliest == nil)
    }
}
