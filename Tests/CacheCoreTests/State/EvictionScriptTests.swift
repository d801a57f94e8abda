import CacheKey
import Testing

@testable import CacheCore
@testable import CacheModel

private let block: Int64 = 4096

/// Staying inside limits that shrink, a disk that others fill, and memory that runs short.
@Suite("State: eviction", .timeLimit(.minutes(5)))
struct EvictionScriptTests {
    let script = StateScript(bytes: 20 * block)

    @Test func shrunkLimitsAreFollowedToTheirWatermark() {
        script.has("a", "b", "c", "d", allocated: 4 * block)
        #expect(script.limits { $0.maximumBytes = 10 * block } == ["evict to 36864"])
        // One eviction is on its way already.
        #expect(script.event { $0.limitsChecked(&$1) } == [])
        let eviction = EvictionGoal(bytes: 36864)
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["a"])
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["b"])
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == [])
        #expect(script.state.bytesUsed == 8 * block)
    }

    @Test func limitsThatShrinkDuringAnEvictionAreFollowedAfterIt() {
        script.has("a", "b", "c", "d", allocated: 4 * block)
        _ = script.limits { $0.maximumBytes = 15 * block }
        let eviction = EvictionGoal(bytes: 55296)
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["a"])
        #expect(script.limits { $0.maximumBytes = 10 * block } == [])
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["evict to 36864"])
        #expect(script.evicts(EvictionGoal(bytes: 36864), isOwn: true) == ["b"])
    }

    @Test func pinsThatStandInTheWayEndAnEviction() {
        script.has("a", "b", allocated: 4 * block)
        _ = script.pins("a")
        #expect(script.limits { $0.maximumBytes = 2 * block } == ["evict to 7373"])
        let eviction = EvictionGoal(bytes: 7373)
        #expect(script.evicts(eviction, isOwn: true) == ["b"])
        #expect(script.evicts(eviction, isOwn: true) == [])
        #expect(script.holds("a"))
    }

    @Test func fewerEntriesAreFollowedToo() {
        for number in 0..<20 { script.has("\(number)", allocated: 512) }
        #expect(
            script.limits { $0.maximumEntries = 10 } == ["evict to 73728 and 9 entries"])
        let goal = EvictionGoal(bytes: 73728, entries: 9)
        #expect(script.evicts(goal, isOwn: true).count == 11)
        #expect(script.holds("11") && !script.holds("10"))
    }

    @Test func anEvictionAskedForMeansWhatIsThere() {
        script.has("a", "b", allocated: 4 * block)
        _ = script.begins("c", 8 * block)
        // Promised bytes can't be evicted; a person did not mean them.
        #expect(script.evicts(EvictionGoal(bytes: 4 * block)) == ["a"])
        #expect(script.evicts(EvictionGoal(bytes: 4 * block)) == [])
    }

    @Test func whatIsBeingEvictedIsNoEntryAnyMore() {
        // flush:  sets K's access time; its change is noticed
        // evict:  takes K off the index; its file is still there
        // anyone: looks at K because it changed: a whole file   → back again, if it were believed
        script.has("a", allocated: block)
        #expect(script.evicts(EvictionGoal(bytes: 0)) == ["a"])
        _ = script.changes(.appeared(script.key("a")))
        #expect(script.looksAt("a", .entry(Sample.facts())) == .missing(nil))
        let start = script.state.catalog.beginProbe()
        script.scans([.entry(script.key("a"), .entry(Sample.facts()))], since: start)
        #expect(!script.holds("a"))
        _ = script.loses("a")
        // It could not be removed after all.
        #expect(script.looksAt("a", .entry(Sample.facts()))?.isCached == true)
    }

    // MARK: What can't be removed

    @Test func othersGoInThePlaceOfWhatStays() {
        script.has("a", "b", "c", allocated: 4 * block)
        let eviction = EvictionGoal(bytes: 8 * block)
        #expect(script.evicts(eviction) == ["a"])
        _ = script.keeps("a")
        #expect(script.state.bytesUsed == 12 * block)
        #expect(script.evicts(eviction) == ["b"])
        _ = script.loses("b")
        #expect(script.evicts(eviction) == [])
        // It is what was used least recently still, and goes once it has changed.
        _ = script.changes(.appeared(script.key("a")))
        #expect(script.looksAt("a", .entry(Sample.facts()))?.isCached == true)
        #expect(script.evicts(EvictionGoal(bytes: 0), limit: 1) == ["a"])
    }

    @Test func whereNothingMayGoNothingIsPassedOver() {
        script.has("a", "b", allocated: 4 * block)
        let eviction = EvictionGoal(bytes: 0)
        #expect(script.evicts(eviction) == ["a", "b"])
        _ = script.keeps("a", "b", othersCould: false)
        #expect(script.evicts(eviction) == ["a", "b"])
    }

    @Test func nobodyGoesForADownloadThatCantHaveRoomAllTheSame() {
        script.has("a", "b", "c", "d", "e", allocated: 4 * block)
        #expect(script.evicts(EvictionGoal(bytes: 8 * block)) == ["a", "b", "c"])
        _ = script.keeps("a", "b", "c")
        // Of 20 blocks 12 stay whatever goes.
        #expect(script.begins("f", 9 * block) == ["refused: noRoom"])
        #expect(script.holds("d") && script.holds("e"))
        #expect(script.begins("g", 7 * block).first?.hasPrefix("granted") == true)
        #expect(!script.holds("d") && !script.holds("e"))
    }

    @Test func whatIsPinnedAndStaysIsCountedOnce() {
        script.has("a", "b", "c", allocated: 4 * block)
        #expect(script.evicts(EvictionGoal(bytes: 8 * block)) == ["a"])
        _ = script.keeps("a")
        _ = script.pins("a")
        #expect(script.begins("d", 15 * block).first?.hasPrefix("granted") == true)
    }

    @Test func aNewVersionOfWhatStaysTakesTheRoomOfOthers() {
        script.has("a", "b", allocated: 8 * block)
        #expect(script.evicts(EvictionGoal(bytes: 8 * block)) == ["a"])
        _ = script.keeps("a")
        _ = script.want("a", by: nil, FetchOptions(isRefresh: true))
        #expect(
            script.asks("a", for: 1, of: 11 * block).prefix(2) == ["granted 45056", "without b"])
    }

    @Test func whoLosesTrackTriesAgain() {
        script.has("a", "b", allocated: 4 * block)
        let eviction = EvictionGoal(bytes: 4 * block)
        #expect(script.evicts(eviction) == ["a"])
        _ = script.keeps("a")
        #expect(script.changes(.overflowed) == ["scan"])
        #expect(script.state.space.unevictable.isEmpty)
    }

    // MARK: The floor of free space

    @Test func theFloorLowersWhatMayBeHeld() {
        script.has("a", "b", allocated: 4 * block)
        script.state.space.budget.minimumFree = 10 * block
        script.state.measured(free: 12 * block)
        #expect(script.state.space.ceiling == 10 * block)
        #expect(script.event { $0.limitsChecked(&$1) } == [])
        // Somebody else fills the disk.
        script.state.measured(free: 7 * block)
        #expect(script.state.space.ceiling == 5 * block)
        #expect(script.event { $0.limitsChecked(&$1) } == ["evict to 18432"])
        script.state.measured(free: 0)
        #expect(script.state.space.ceiling == 0)
        script.state.measured(free: .max)
        #expect(script.state.space.ceiling == 20 * block)
    }

    @Test func whatADownloadHasWrittenIsNotCountedTwice() {
        script.state.space.budget.minimumFree = 10 * block
        script.state.measured(free: 22 * block)
        #expect(script.begins("a", 7 * block) == ["granted 28672"])
        #expect(script.state.space.ceiling == 12 * block)
        _ = script.progresses("a", received: 5 * block, total: 7 * block)
        script.state.measured(free: 17 * block)
        #expect(script.state.space.ceiling == 12 * block)
        #expect(script.begins("b", 3 * block) == ["granted 12288"])
    }

    // MARK: Partials

    @Test func whatAFailedDownloadLeftIsEstimatedThenLookedAt() {
        _ = script.begins("a", 9 * block)
        _ = script.progresses("a", received: 3 * block, total: 9 * block)
        _ = script.finishes("a", failing: .http(500))
        #expect(script.state.bytesUsed == 4 * block)
        #expect(script.state.space.partials.dirtyNames == [script.key("a")])
        script.state.partialProbed(script.key("a"), 3 * block)
        #expect(script.state.bytesUsed == 3 * block)
        _ = script.changes(.partialChanged(script.key("a")))
        #expect(script.state.space.partials.dirtyNames == [script.key("a")])
        script.state.partialProbed(script.key("a"), nil)
        #expect(script.state.bytesUsed == 0)
    }

    @Test func whatADownloadWritesIsInItsOwnBooks() {
        script.state.partialProbed(script.key("a"), 5 * block)
        _ = script.begins("a", 3 * block)
        #expect(script.state.bytesHeld == 4 * block)
        _ = script.changes(.partialChanged(script.key("a")))
        script.state.partialProbed(script.key("a"), 2 * block)
        #expect(script.state.bytesHeld == 4 * block)
        _ = script.finishes("a")
        _ = script.published("a", Sample.facts(allocated: 4 * block))
        // It was renamed; a look at the name would find nothing.
        #expect(script.state.bytesUsed == 4 * block)
    }

    @Test func strangersPartialsAreCounted() {
        let start = script.state.catalog.beginProbe()
        script.scans([.partial(script.key("a"), 6 * block)], since: start)
        #expect(script.state.bytesUsed == 6 * block)
        #expect(script.removes("a") == ["discard a"])
    }

    // MARK: Fewer downloads

    @Test func halfAsManyDownloadsRunForAWhile() {
        let script = StateScript(transferLimit: 6)
        let end = ContinuousClock.now + .seconds(60)
        script.state.scheduler.throttle(until: end)
        script.caller("reader", wants: "a", "b", "c", "d") {
            #expect($0 == ["start a", "start b"])
        }
        #expect(script.event { $0.timePassed(now: end - .seconds(1), &$1) } == [])
        #expect(script.event { $0.timePassed(now: end, &$1) } == ["start c", "start d"])
        #expect(script.event { $0.timePassed(now: end + .seconds(60), &$1) } == [])
    }

    @Test func halfIsHalfHoweverOftenMemoryIsShort() {
        let script = StateScript(transferLimit: 6)
        for _ in 0..<3 { script.state.scheduler.throttle(until: .now) }
        script.caller("reader", wants: "a", "b", "c") {
            #expect($0 == ["start a", "start b"])
        }
    }

    @Test func oneDownloadIsAlwaysAllowed() {
        let script = StateScript(transferLimit: 2)
        for _ in 0..<3 { script.state.scheduler.throttle(until: .now) }
        script.caller("reader", wants: "a", "b") { #expect($0 == ["start a"]) }
    }

    /// Changes were lost during the first scan, or it is another directory: what is on the index is not all,
    /// nor in order.
    @Test(arguments: [false, true])
    func nothingGoesBeforeTheDirectoryIsRead(isReplaced: Bool) {
        script.has("a", "b", allocated: 4 * block)
        script.state.catalog.validity = isReplaced ? .complete : .loading
        if !isReplaced { script.state.scanBegan() }
        _ = isReplaced ? script.event { $0.directoryReplaced(&$1) } : script.changes(.overflowed)
        if isReplaced { script.state.scanBegan() }
        let shrunk = script.limits {
            $0.maximumBytes = 6 * block
            $0.maximumEntries = 1
        }
        #expect(shrunk == [])
        #expect(script.begins("c", 2 * block) == ["wait"])
        #expect(script.diskFills("c", block).isEmpty)
        var hasBegun = false
        if script.state.postpones({}) { hasBegun = true }
        #expect(hasBegun)
        if !isReplaced {
            // It is read once more, as changes were lost.
            #expect(!script.scanFinishes())
            #expect(script.event { $0.limitsChecked(&$1) } == [])
            script.state.scanBegan()
        }
        #expect(script.scanFinishes())
        #expect(script.event { $0.limitsChecked(&$1) }.count == 1)
    }

    @Test func whatReplacesAnEntryNeedsNoOtherPlace() {
        script.has("a", "b", "c", "d", allocated: 512)
        _ = script.limits { $0.maximumEntries = 5 }
        for name in ["a", "b", "c"] {
            _ = script.want(name, by: nil, FetchOptions(isRefresh: true))
            #expect(script.asks(name, for: 1, of: 512) == ["granted 512"])
        }
        #expect(script.begins("e", 512) == ["granted 512"])
        // That is one too many.
        #expect(script.begins("f", 512).contains("without d"))
    }

    @Test func whatIsLeftOfBrokenDownloadsIsNoReasonForMoreToGo() {
        script.state.partialProbed(script.key("x"), 10 * block)
        script.has("a", "b", "c", "d", allocated: 2 * block)
        #expect(script.state.bytesUsed == 18 * block)
        let effects = script.limits { $0.maximumBytes = 17 * block }
        #expect(effects == ["evict to \(10 * block + Budget.watermark(7 * block))"])
    }

    /// To remove more would be in vain: readers have open what went.
    @Test func whatIsNotGivenBackIsNoReasonForMoreToGo() {
        let now = ContinuousClock.now
        script.has("a", "b", "c", "d", allocated: 4 * block)
        script.state.space.budget.minimumFree = 4 * block
        func measured(_ blocks: Int64) -> [String] {
            script.event { state, effects in
                state.measured(free: blocks * block)
                state.limitsChecked(&effects)
            }
        }
        #expect(measured(4) == [])
        #expect(measured(3) == ["evict to \(Budget.watermark(15 * block))"])
        let eviction = EvictionGoal(bytes: Budget.watermark(15 * block))
        #expect(script.evicts(eviction, isOwn: true) == ["a"])
        script.state.space.notReturned(4 * block, until: now + .seconds(600))
        _ = script.loses("a")
        #expect(measured(3) == [])
        // A stranger goes on writing.
        #expect(measured(0) == [])
        #expect(script.state.space.ceiling == 12 * block)
        #expect(script.event { $0.timePassed(now: now, &$1) } == [])
        #expect(measured(0) == [])
        #expect(script.event { $0.timePassed(now: now + .seconds(600), &$1) } == [])
        #expect(measured(0) == ["evict to \(Budget.watermark(8 * block))"])
    }

    @Test func whatIsGivenBackIsOwedNoMore() {
        script.has("a", "b", "c", "d", allocated: 4 * block)
        script.state.space.budget.minimumFree = 4 * block
        script.state.measured(free: 3 * block)
        let eviction = EvictionGoal(bytes: 12 * block)
        #expect(script.evicts(eviction, isOwn: true) == ["a"])
        script.state.space.notReturned(4 * block, until: .now + .seconds(600))
        _ = script.loses("a")
        script.state.measured(free: 5 * block)
        #expect(script.state.space.ceiling == 15 * block)
        script.state.measured(free: 7 * block)
        #expect(script.state.space.ceiling == 15 * block)
        script.state.measured(free: 9 * block)
        #expect(script.state.space.ceiling == 17 * block)
    }

    @Test func anotherDirectoryOwesNothing() {
        script.state.measured(free: 3 * block)
        script.state.space.notReturned(4 * block, until: .now + .seconds(600))
        _ = script.event { $0.directoryReplaced(&$1) }
        script.state.measured(free: 2 * block)
        #expect(script.state.space.ceiling == 2 * block)
    }
}
