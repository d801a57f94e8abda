import CacheKey
import CacheSamples
import CacheValues
import Glibc
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Decisions about a store that several machines share.
@Suite("State: store", .timeLimit(.minutes(5)))
struct StoreScriptTests {
    /// - Parameter time: that of a usual download. If it is long, images are claimed.
    private func script(
        _ policy: StorePolicy = StorePolicy(), transferLimit: Int = 9,
        downloadsTake time: Duration = .milliseconds(1)
    ) -> StateScript {
        let script = StateScript(transferLimit: transferLimit, store: policy)
        _ = script.event { state, _ in
            state.fetching.store?.downloaded(from: Origin(Sample.url("a")), in: time)
        }
        return script
    }

    private func answers(
        _ script: StateScript, _ image: String, _ answer: StoreAnswer, now: Moment = Sample.moment
    ) -> [String] {
        let id = script.flight(image)
        return script.event { state, effects in
            var random = SeededGenerator(seed: 1)
            state.fetching.notInStore(
                script.key(image), id, answer, after: .milliseconds(2), now: now, using: &random,
                &effects)
        }
    }

    private func brings(
        _ script: StateScript, _ image: String, _ question: FlightID? = nil, reuse: Reuse = .fresh
    ) -> [String] {
        let id = question ?? script.flight(image)
        return script.event { state, effects in
            state.fetching.foundInStore(
                script.key(image), id, size: 1000, reuse: reuse,
                after: question == nil ? .milliseconds(2) : nil, &effects)
        }
    }

    @Test func theStoreIsAskedBeforeTheOriginAndHoldsNoSlot() {
        let script = script(transferLimit: 1)
        script.caller("one", wants: "a", "b") {
            let asked = $0.filter { $0 != "announce" }
            #expect(asked == ["ask the store for a", "ask the store for b"])
        }
        #expect(script.phase("a") == .connecting)
        #expect(script.state.fetching.scheduler.running == 0)
        #expect(answers(script, "a", .missing) == ["start a"])
        #expect(brings(script, "b") == ["publish b"])
        #expect(script.published("b") == [])
        #expect(script.holds("b"))
        #expect(script.finishes("a") == ["publish a"])
    }

    /// The wrong answer has reserved the space that another download waits for.
    @Test func theSpaceOfAWrongAnswerGoesToTheDownloadThatWaitsForIt() {
        let script = StateScript(
            transferLimit: 1, bytes: 40_960, store: StorePolicy(writes: false))
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
        let first = try #require(script.state.fetching.downloads[script.key("a")])
        let wasCommon = script.state.fetching.hasCommonName(first)
        _ = script.event { state, effects in
            state.fetching.requested(
                script.key("a"), Sample.url("b"), by: nil, FetchOptions(),
                name: Sample.url("a"), now: FileTime(Sample.now), &effects)
        }
        let flight = try #require(script.state.fetching.downloads[script.key("a")])
        #expect(flight.url == Sample.url("b") && flight.name == Sample.url("a"))
        let isCommon = script.state.fetching.hasCommonName(flight)
        #expect(wasCommon && !isCommon)
    }

    @Test func theMostUrgentIsAskedFirstAndNoMoreThanPermitted() {
        let script = script()
        let names = (0..<40).map { "n\($0)" }
        for name in names { _ = script.want(name, by: nil, FetchOptions(priority: .background)) }
        #expect(script.state.fetching.store?.lookups.runningCount == StoreLookups.most * 7 / 8)
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
        #expect(script.state.fetching.downloads.isEmpty)
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
        #expect(script.state.fetching.store?.reads.reason == .late)
        // Those that waited for their turn queue for their origins.
        #expect(script.state.fetching.store?.lookups.isAnyWaiting == false)
        #expect(script.state.fetching.downloads.all.count { $0.value.isAsking } == 25)
        script.caller("one", wants: "x") { #expect($0.contains("ask the store for x") == false) }
        _ = script.event {
            $0.fetching.storeTimePassed(now: Sample.moment.instant + .seconds(2), &$1)
        }
        script.caller("two", wants: "y") { #expect($0.contains("ask the store for y")) }
        script.caller("three", wants: "z") { #expect($0.contains("ask the store for z") == false) }
        #expect(answers(script, "y", .missing).contains("store"))
        script.caller("four", wants: "w") { #expect($0.contains("ask the store for w")) }
    }

    // MARK: Late answers

    private func becomesLate(_ script: StateScript, _ image: String) -> FlightID {
        let question = script.flight(image)
        #expect(answers(script, image, .later).contains("start \(image)"))
        #expect(script.flight(image) != question)
        #expect(script.state.fetching.store?.counters.late == 1)
        #expect(script.state.fetching.store?.lookups.runningCount == 0)
        return question
    }

    @Test func aLateAnswerThatComesBeforeTheOriginsIsTaken() {
        let script = script()
        script.caller("one", wants: "a")
        let question = becomesLate(script, "a")
        let said = brings(script, "a", question).filter { $0 != "announce" }
        #expect(said == ["cancel a", "publish a"])
        #expect(script.flight("a") == question)
        #expect(script.published("a").contains("tell one"))
        #expect(script.stops("a") == [])
        #expect(script.state.fetching.scheduler.running == 0)
        #expect(script.state.fetching.store?.counters.hits == 1)
    }

    @Test(arguments: [false, true])
    func aLateAnswerThatComesAfterTheOriginsIsNot(isWhole: Bool) {
        let script = script()
        script.caller("one", wants: "a")
        let question = becomesLate(script, "a")
        _ = script.progresses("a", received: 500, total: 1000)
        if isWhole {
            #expect(script.finishes("a") == ["publish a"])
            _ = script.published("a")
        }
        #expect(brings(script, "a", question) == [])
        #expect(script.state.fetching.store?.counters.hits == 0)
        if !isWhole { #expect(script.finishes("a") == ["publish a"]) }
    }

    @Test func aLateAnswerComesIntoTheQueueOfADownloadThatHasNoSlot() {
        let script = script(transferLimit: 1)
        script.caller("one", wants: "x", "a")
        #expect(answers(script, "x", .missing) == ["start x"])
        let question = script.flight("a")
        _ = answers(script, "a", .later)
        #expect(script.phase("a") == .queued)
        #expect(brings(script, "a", question).contains("publish a"))
        #expect(script.published("a") == [])
        #expect(script.finishes("x") == ["publish x"])
    }

    @Test func manyLeaveAStoreSomeAtATime() {
        let script = script()
        for number in 0..<1100 { _ = script.want("n\(number)", by: nil) }
        for number in 0..<8 { _ = answers(script, "n\(number)", .late) }
        func waiting() -> Int {
            script.state.fetching.downloads.all.count { $0.value.waitsForStore }
        }
        var before = waiting()
        #expect(before > 500)
        while before > 0 {
            let said = script.event { $0.fetching.storeTimePassed(now: Sample.moment.instant, &$1) }
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
        #expect(script.state.fetching.scheduler.running == 0)
        var (now, asked) = (Sample.moment, 0)
        while script.state.fetching.scheduler.running == 0, asked < 100 {
            now = now + .milliseconds(250)
            let due = script.event { [now] in $0.fetching.pausesEnded(now: now.instant, &$1) }
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

    /// A machine whose downloads wait for a slot would keep the others waiting for nothing.
    @Test func anImageIsClaimedOnceItsDownloadHasASlot() {
        let script = script(transferLimit: 1, downloadsTake: .seconds(1))
        let waiter = script.caller("one", wants: "a", "b")
        #expect(answers(script, "b", .missing) == ["claim b"])
        #expect(answers(script, "a", .missing) == [])
        #expect(script.state.fetching.scheduler.running == 1)
        // Another machine has claimed it.
        #expect(answers(script, "b", .awaited).contains("claim a"))
        #expect(script.state.fetching.scheduler.running == 1)
        #expect(answers(script, "a", .claimed) == ["start a"])
        downloads(script, "a")
        #expect(takes(script) == StoreTask(.replace, script.key("a")))
        _ = script.leaves(waiter)
        #expect(script.state.fetching.scheduler.running == 0)
    }

    @Test func theSlotGoesToTheDownloadThatIsClaimed() {
        let script = script(transferLimit: 1, downloadsTake: .seconds(1))
        script.caller("one", wants: "a", "b", "c")
        #expect(answers(script, "a", .missing) == ["claim a"])
        for image in ["b", "c"] { #expect(answers(script, image, .missing) == []) }
        #expect(answers(script, "a", .claimed) == ["start a"])
    }

    @Test func whoLeavesWhileItsImageIsClaimedFreesTheSlot() {
        let script = script(transferLimit: 1, downloadsTake: .seconds(1))
        let waiter = script.caller("one", wants: "a")
        #expect(answers(script, "a", .missing) == ["claim a"])
        let question = script.flight("a")
        #expect(script.leaves(waiter).contains("stop asking for a"))
        _ = script.event { state, effects in
            var random = SeededGenerator(seed: 1)
            state.fetching.notInStore(
                script.key("a"), question, .withdrawn, after: nil, now: Sample.moment,
                using: &random, &effects)
        }
        #expect(script.state.fetching.scheduler.running == 0)
    }

    /// A store that fails, or knows no conditions, delays a download by one answer.
    @Test(arguments: [StoreAnswer.notAsked, .late, .failed("it broke")])
    func aClaimThatFailsIsNoReasonNotToDownload(answer: StoreAnswer) {
        let script = script(downloadsTake: .seconds(1))
        script.caller("one", wants: "a")
        #expect(answers(script, "a", .missing) == ["claim a"])
        #expect(answers(script, "a", answer).contains("start a"))
    }

    @Test func whatIsQuickIsClaimedForPrefetchesOnly() throws {
        let script = script()
        script.caller("one", wants: "a")
        _ = script.want("b", by: nil, FetchOptions(priority: .background))
        #expect(answers(script, "a", .missing) == ["start a"])
        #expect(answers(script, "b", .missing) == ["claim b"])
        // Another origin may be slow.
        let other = Origin(try CacheURL("https://slow.test/a"))
        #expect(script.state.fetching.store?.claims(from: other, isPrefetch: false) == true)
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
        #expect(script.state.fetching.store?.counters.claims == 3)
    }

    // MARK: Writes

    private func downloads(_ script: StateScript, _ image: String, isShareable: Bool = true) {
        let id = script.flight(image)
        _ = script.event { state, effects in
            state.fetching.imageStaged(
                script.key(image), id, size: 1000, isShareable: isShareable, &effects)
        }
        _ = script.published(image)
    }

    private func takes(_ script: StateScript) -> StoreTask? {
        script.state.fetching.takeStoreTask()
    }

    private func ends(
        _ script: StateScript, _ task: StoreTask, _ end: StoreWriteEnd,
        now: Moment = Sample.moment
    ) -> [String] {
        script.event { state, effects in
            var random = SeededGenerator(seed: 1)
            state.fetching.storeTaskEnded(task, end, now: now, using: &random, &effects)
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
            _ = script.event { [now] in $0.fetching.storeTimePassed(now: now.instant, &$1) }
        }
        #expect(takes(script) == nil)
        #expect(script.state.fetching.store?.counters.dropped == 1)
    }

    @Test func asManyWritesRunAsTheStoreTakes() throws {
        let script = script(StorePolicy(reads: false))
        let names = (0..<700).map { "n\($0)" }
        for name in names {
            _ = script.want(name, by: nil)
            downloads(script, name)
        }
        func begun() -> [StoreTask] {
            var tasks: [StoreTask] = []
            while let task = takes(script) { tasks.append(task) }
            return tasks
        }
        var tasks = begun()
        #expect(tasks.count == 4)
        while tasks.count < 32 {
            let before = tasks.count
            for task in tasks { _ = ends(script, task, .written(bytes: 1)) }
            tasks = begun()
            try #require(tasks.count > before)
        }
        #expect(tasks.count == 32)
        _ = ends(script, tasks[0], .overloaded(retryAfter: nil))
        for task in tasks.dropFirst() { _ = ends(script, task, .obsolete) }
        #expect(begun().count == 16)
    }

    // MARK: Many questions

    /// Nanoseconds of this thread. clock_gettime(2)
    private static var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// The time of a thousand answers while so many downloads wait to ask: the least of three.
    private func cost(waiting count: Int) -> Int {
        var state = CacheState(
            FetchingState(
                transferLimit: 9, originLimit: .max, retry: .once, publishingLimit: .max,
                store: StorePolicy()))
        state.disk.validity = .complete
        state.fetching.store?.downloaded(from: Origin(Sample.url("1")), in: .milliseconds(1))
        var random = SeededGenerator(seed: 1)
        var asked: [(FlightID, CacheKey)] = []
        func take(_ effects: Effects) {
            for case .askStore(let id, let key, _, _, _) in effects.work { asked.append((id, key)) }
        }
        for number in 0..<count {
            var effects = Effects()
            state.fetching.requested(
                Sample.key("\(number)"), Sample.url("\(number)"), by: nil, FetchOptions(),
                now: FileTime(Sample.now), &effects)
            take(effects)
        }
        let times = (0..<3).map { _ in
            let start = Self.processorTime
            for _ in 0..<1000 {
                let (id, key) = asked.removeFirst()
                var effects = Effects()
                state.fetching.notInStore(
                    key, id, .missing, after: .milliseconds(2), now: Sample.moment, using: &random,
                    &effects)
                take(effects)
            }
            return Self.processorTime - start
        }
        return times.min() ?? 0
    }

    @Test func aQuestionCostsTheSameHoweverManyWait() {
        let (few, many) = (cost(waiting: 10_000), cost(waiting: 40_000))
        #expect(many < few * 2, "\(few) ns, \(many) ns")
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
