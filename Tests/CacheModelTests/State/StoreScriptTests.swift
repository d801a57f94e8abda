import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheModel

/// Decisions about a store that several machines share.
@Suite("State: store", .timeLimit(.minutes(5)))
struct StoreScriptTests {
    private func script(
        _ policy: StorePolicy = StorePolicy(), transferLimit: Int = 9
    ) -> StateScript {
        StateScript(transferLimit: transferLimit, store: policy)
    }

    private func answers(
        _ script: StateScript, _ image: String, _ answer: StoreAnswer, now: Moment = Sample.moment
    ) -> [String] {
        let id = script.flight(image)
        return script.event { state, effects in
            var random = SeededGenerator(seed: 1)
            state.notInStore(
                script.key(image), id, answer, after: .milliseconds(2), now: now, using: &random,
                &effects)
        }
    }

    private func brings(
        _ script: StateScript, _ image: String, reuse: Reuse = .fresh
    ) -> [String] {
        let id = script.flight(image)
        return script.event { state, effects in
            state.foundInStore(
                script.key(image), id, size: 1000, reuse: reuse, after: .milliseconds(2), &effects)
        }
    }

    @Test func theStoreIsAskedBeforeTheOriginAndHoldsNoSlot() {
        let script = script(transferLimit: 1)
        script.caller("one", wants: "a", "b") {
            let asked = $0.filter { $0 != "announce" }
            #expect(asked == ["ask the store for a", "ask the store for b"])
        }
        #expect(script.phase("a") == .connecting)
        #expect(script.state.scheduler.running == 0)
        #expect(answers(script, "a", .missing) == ["start a"])
        #expect(brings(script, "b") == ["publish b"])
        #expect(script.published("b") == [])
        #expect(script.holds("b"))
        #expect(script.finishes("a") == ["publish a"])
    }

    /// The wrong answer has reserved the space that another download waits for.
    @Test func theSpaceOfAWrongAnswerGoesToTheDownloadThatWaitsForIt() {
        let script = StateScript(
            transferLimit: 1, bytes: 40_960, store: StorePolicy())
        script.caller("one", wants: "a", "b")
        #expect(script.asks("a", for: 1, of: 28_672) == ["granted 28672"])
        #expect(answers(script, "b", .missing) == ["start b"])
        let waiting = script.flight("b")
        #expect(script.asks("b", for: 1, of: 20_480) == ["wait"])
        #expect(script.finishes("b", waiting, failing: script.refusal) == [])
        #expect(answers(script, "a", .bad("it has no end")) == ["start b", "store"])
    }

    /// A program says that the image of another URL is the one that is being downloaded.
    @Test func anotherSourceKeepsTheNameAndLeavesTheStoreAlone() throws {
        let script = script(transferLimit: 1)
        script.caller("one", wants: "x", "a")
        #expect(answers(script, "x", .missing) == ["start x"])
        #expect(answers(script, "a", .stale) == [])
        let first = try #require(script.state.downloads[script.key("a")])
        let wasCommon = script.state.hasCommonName(first)
        _ = script.event { state, effects in
            state.requested(
                script.key("a"), Sample.url("b"), by: nil, FetchOptions(),
                name: Sample.url("a"), now: FileTime(Sample.now), &effects)
        }
        let flight = try #require(script.state.downloads[script.key("a")])
        #expect(flight.url == Sample.url("b") && flight.name == Sample.url("a"))
        let isCommon = script.state.hasCommonName(flight)
        #expect(wasCommon && !isCommon)
    }

    @Test func theMostUrgentIsAskedFirstAndNoMoreThanPermitted() {
        let script = script()
        let names = (0..<40).map { "n\($0)" }
        for name in names { _ = script.want(name, by: nil, FetchOptions(priority: .background)) }
        #expect(script.state.store?.lookups.runningCount == StoreLookups.most * 7 / 8)
        script.caller("one", wants: "v", priority: .visible)
        #expect(answers(script, "n0", .missing).contains("ask the store for v"))
    }

    @Test func aRefreshIsNotAnsweredByTheStore() {
        let script = script()
        script.caller("one", wants: "a", isRefresh: true) {
            #expect($0.contains("start a"))
        }
    }

    @Test func aRefreshThatJoinsGetsTheOriginsAnswer() {
        let script = script()
        script.caller("one", wants: "a")
        script.caller("two", wants: "a", isRefresh: true)
        #expect(brings(script, "a") == ["publish a"])
        #expect(script.published("a") == ["start a", "tell one"])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == ["write", "tell two"])
    }

    @Test func aStaleImageIsPublishedAndItsOriginAsked() {
        let script = script()
        script.caller("one", wants: "a")
        #expect(brings(script, "a", reuse: .mustRevalidate) == ["publish a"])
        #expect(script.published("a") == ["start a"])
        #expect(script.holds("a"))
        #expect(script.confirms("a") == ["confirm a"])
    }

    @Test func aStaleImageThatMayBeUsedMeanwhileIsAnAnswer() {
        let script = script()
        script.caller("one", wants: "a")
        _ = brings(script, "a", reuse: .staleWhileRevalidating)
        #expect(Set(script.published("a")) == ["start a", "tell one"])
    }

    @Test func whoLeavesStopsTheQuestion() {
        let script = script()
        let waiter = script.caller("one", wants: "a")
        #expect(script.leaves(waiter).contains("stop asking for a"))
        #expect(script.state.downloads.isEmpty)
    }

    @Test func aRemovalStopsTheQuestion() {
        let script = script()
        script.caller("one", wants: "a")
        let said = script.removes("a")
        #expect(said.contains("stop asking for a"))
        #expect(said.contains("tell one: a removed"))
    }

    @Test func aStoreThatIsLeftAloneIsNotAskedAndNothingWaitsForIt() {
        let script = script()
        let names = (0..<60).map { "n\($0)" }
        for name in names { _ = script.want(name, by: nil) }
        for name in names.prefix(10) { _ = answers(script, name, .late) }
        #expect(script.state.store?.reads.reason == .late)
        // Those that waited for their turn queue for their origins.
        #expect(script.state.store?.lookups.isAnyWaiting == false)
        #expect(script.state.downloads.all.count { $0.value.isAsking } == 25)
        script.caller("one", wants: "x") { #expect($0.contains("ask the store for x") == false) }
        _ = script.event {
            $0.storeTimePassed(now: Sample.moment.instant + .seconds(2), &$1)
        }
        script.caller("two", wants: "y") { #expect($0.contains("ask the store for y")) }
        script.caller("three", wants: "z") { #expect($0.contains("ask the store for z") == false) }
        #expect(answers(script, "y", .missing).contains("store"))
        script.caller("four", wants: "w") { #expect($0.contains("ask the store for w")) }
    }

    @Test func manyLeaveAStoreSomeAtATime() {
        let script = script()
        for number in 0..<1100 { _ = script.want("n\(number)", by: nil) }
        for number in 0..<8 { _ = answers(script, "n\(number)", .late) }
        func waiting() -> Int { script.state.downloads.all.count { $0.value.waitsForStore } }
        var before = waiting()
        #expect(before > 500)
        while before > 0 {
            let said = script.event { $0.storeTimePassed(now: Sample.moment.instant, &$1) }
            #expect(waiting() == max(0, before - 512))
            before = waiting()
            #expect(said.contains("write") == (before > 0))
        }
    }

    @Test func whoFindsAClaimAsksAgainAndThenItsOrigin() {
        let script = script()
        script.caller("one", wants: "a")
        #expect(answers(script, "a", .awaited).contains("plan"))
        #expect(script.phase("a") == .queued)
        #expect(script.state.scheduler.running == 0)
        var (now, asked) = (Sample.moment, 0)
        while script.state.scheduler.running == 0, asked < 100 {
            now = now + .milliseconds(250)
            let due = script.event { [now] in $0.pausesEnded(now: now.instant, &$1) }
            guard due.contains("ask the store for a") else { continue }
            asked += 1
            _ = answers(script, "a", .awaited, now: now)
        }
        #expect(asked >= 2)
        let waited = Sample.moment.instant.duration(to: now.instant)
        #expect(waited >= .seconds(1) && waited <= .milliseconds(1500))
        // What it brings replaces the claim.
        downloads(script, "a")
        #expect(takes(script) == StoreTask(.replace, script.key("a")))
    }

    @Test func aClaimIsReplacedOrDeleted() {
        let script = script()
        script.caller("one", wants: "a", "b", "c")
        for image in ["a", "b", "c"] {
            #expect(answers(script, image, .claimed).contains("start \(image)"))
        }
        downloads(script, "a")
        _ = script.fails("b", FailedTransfer(failure: .http(403)))
        downloads(script, "c", isShareable: false)
        #expect(takes(script) == StoreTask(.replace, script.key("a")))
        #expect(takes(script) == StoreTask(.delete, script.key("b")))
        #expect(takes(script) == StoreTask(.delete, script.key("c")))
        #expect(script.state.store?.counters.claims == 3)
    }

    // MARK: Writes

    private func downloads(_ script: StateScript, _ image: String, isShareable: Bool = true) {
        let id = script.flight(image)
        _ = script.event { state, effects in
            state.imageStaged(
                script.key(image), id, size: 1000, isShareable: isShareable, &effects)
        }
        _ = script.published(image)
    }

    private func takes(_ script: StateScript) -> StoreTask? { script.state.takeStoreTask() }

    private func ends(
        _ script: StateScript, _ task: StoreTask, _ end: StoreWriteEnd,
        now: Moment = Sample.moment
    ) -> [String] {
        script.event { state, effects in
            var random = SeededGenerator(seed: 1)
            state.storeTaskEnded(task, end, now: now, using: &random, &effects)
        }
    }

    @Test func whatTheStoreLackedIsCreatedAndWhatWasWrongIsReplaced() {
        let script = script()
        script.caller("one", wants: "a", "b", "c")
        _ = answers(script, "a", .missing)
        _ = answers(script, "b", .bad("it is a page"))
        _ = answers(script, "c", .missing)
        downloads(script, "a")
        downloads(script, "b")
        downloads(script, "c", isShareable: false)
        #expect(takes(script) == StoreTask(.create, script.key("a")))
        #expect(takes(script) == StoreTask(.replace, script.key("b")))
        #expect(takes(script) == nil)
        // Images that are not for others are not looked up there either.
        _ = script.event { _ = $0.removeAsked(script.key("c"), sparesPinned: false, &$1) }
        script.caller("two", wants: "c") { #expect($0.contains("start c")) }
    }

    @Test func aFailedWriteIsTriedThreeTimes() {
        let script = script()
        script.caller("one", wants: "a")
        _ = answers(script, "a", .missing)
        downloads(script, "a")
        var now = Sample.moment
        for attempt in 1...3 {
            guard let task = takes(script) else {
                Issue.record("attempt \(attempt) is not made")
                return
            }
            _ = ends(script, task, .failed("it broke"), now: now)
            now = now + .seconds(5)
            _ = script.event { [now] in $0.storeTimePassed(now: now.instant, &$1) }
        }
        #expect(takes(script) == nil)
        #expect(script.state.store?.counters.dropped == 1)
    }

    @Test func aRefusedWriteStopsWritesAndNotQuestions() {
        let script = script()
        script.caller("one", wants: "a", "b")
        for image in ["a", "b"] {
            _ = answers(script, image, .missing)
            downloads(script, image)
        }
        let refusal = StoreRefusal(code: "AccessDenied", remedy: "extend the policy")
        if let task = takes(script) {
            #expect(ends(script, task, .refused(refusal)).contains("store"))
        }
        #expect(takes(script) == nil)
        script.caller("two", wants: "c") { #expect($0.contains("ask the store for c")) }
    }

    @Test func anImageThatIsGoneIsDeletedUnlessItWasNotThere() {
        let script = script()
        script.caller("one", wants: "a", "b")
        _ = answers(script, "a", .stale)
        _ = answers(script, "b", .missing)
        let gone = FailedTransfer(failure: .http(404))
        _ = script.fails("a", gone)
        _ = script.fails("b", gone)
        #expect(takes(script) == StoreTask(.delete, script.key("a")))
        #expect(takes(script) == nil)
    }

    @Test func aStoreForReadingOnlyIsNotWrittenTo() {
        let script = script(StorePolicy(writes: false))
        script.caller("one", wants: "a")
        _ = answers(script, "a", .missing)
        downloads(script, "a")
        #expect(takes(script) == nil)
    }
}
