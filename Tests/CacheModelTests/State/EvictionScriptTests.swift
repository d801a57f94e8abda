import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

private let block: Int64 = 4096

/// Eviction when limits shrink, when other programs fill the disk, and when memory is short.
@Suite("State: eviction", .timeLimit(.minutes(5)))
struct EvictionScriptTests {
    let script = StateScript(bytes: 20 * block)

    @Test func evictsToTheWatermarkWhenLimitsShrink() {
        script.has("a", "b", "c", "d", allocated: 4 * block)
        #expect(script.limits { $0.maximumBytes = 10 * block } == ["evict to 36864"])
        // An eviction is already in progress.
        #expect(script.event { $0.fetching.limitsChecked(&$1) } == [])
        let eviction = EvictionGoal(bytes: 36864)
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["a"])
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["b"])
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == [])
        #expect(script.state.disk.bytesUsed == 8 * block)
    }

    @Test func evictsAgainWhenLimitsShrinkDuringAnEviction() {
        script.has("a", "b", "c", "d", allocated: 4 * block)
        _ = script.limits { $0.maximumBytes = 15 * block }
        let eviction = EvictionGoal(bytes: 55296)
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["a"])
        #expect(script.limits { $0.maximumBytes = 10 * block } == [])
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["evict to 36864"])
        #expect(script.evicts(EvictionGoal(bytes: 36864), isOwn: true) == ["b"])
    }

    @Test func anEvictionEndsWhenOnlyPinnedEntriesRemain() {
        script.has("a", "b", allocated: 4 * block)
        _ = script.pins("a")
        #expect(script.limits { $0.maximumBytes = 2 * block } == ["evict to 7373"])
        let eviction = EvictionGoal(bytes: 7373)
        #expect(script.evicts(eviction, isOwn: true) == ["b"])
        #expect(script.evicts(eviction, isOwn: true) == [])
        #expect(script.holds("a"))
    }

    @Test func evictsWhenTheEntryLimitShrinks() {
        for number in 0..<20 { script.has("\(number)", allocated: 512) }
        #expect(
            script.limits { $0.maximumEntries = 10 } == ["evict to 73728 and 9 entries"])
        let goal = EvictionGoal(bytes: 73728, entries: 9)
        #expect(script.evicts(goal, isOwn: true).count == 11)
        #expect(script.holds("11") && !script.holds("10"))
    }

    @Test func aRequestedEvictionIgnoresReservations() {
        script.has("a", "b", allocated: 4 * block)
        _ = script.begins("c", 8 * block)
        // Reserved bytes can't be evicted, and the person who asked did not mean them.
        #expect(script.evicts(EvictionGoal(bytes: 4 * block)) == ["a"])
        #expect(script.evicts(EvictionGoal(bytes: 4 * block)) == [])
    }

    @Test func anEvictionEndsAtTheFirstEntryThatWasFetchedTooLate() {
        let fetchTimes: [(String, UInt32)] = [("a", 100), ("b", 199), ("c", 200), ("d", 150)]
        for (image, time) in fetchTimes {
            script.has(image, Sample.facts(fetchedAt: 1_790_000_000 + time))
        }
        let goal = EvictionGoal(bytes: 0, fetchedBefore: UnixTime(rawValue: 1_790_000_200))
        #expect(script.evicts(goal, limit: 1) == ["a"])
        #expect(script.evicts(goal) == ["b"])
        // "d" was used after "c", so it is not evicted before it.
        #expect(script.evicts(goal) == [])
        #expect(script.evicts(EvictionGoal(bytes: 0)) == ["c", "d"])
    }

    @Test func anEntryBeingEvictedIsNotCached() {
        // flush:  sets K's access time, which the watch reports as a change
        // evict:  removes K from the index; its file still exists
        // anyone: probes K because it changed: a whole file   → an entry again, if believed
        script.has("a", allocated: block)
        #expect(script.evicts(EvictionGoal(bytes: 0)) == ["a"])
        _ = script.changes(.appeared(script.key("a")))
        #expect(script.looksAt("a", .entry(Sample.facts())) == .missing(nil))
        let start = script.state.disk.beginProbe()
        script.scans([.entry(script.key("a"), .entry(Sample.facts()))], since: start)
        #expect(!script.holds("a"))
        _ = script.loses("a")
        // The file could not be removed.
        #expect(script.looksAt("a", .entry(Sample.facts()))?.isCached == true)
    }

    // MARK: Unremovable files

    @Test func evictsOtherEntriesInsteadOfUnremovableOnes() {
        script.has("a", "b", "c", allocated: 4 * block)
        let eviction = EvictionGoal(bytes: 8 * block)
        #expect(script.evicts(eviction) == ["a"])
        _ = script.keeps("a")
        #expect(script.state.disk.bytesUsed == 12 * block)
        #expect(script.evicts(eviction) == ["b"])
        _ = script.loses("b")
        #expect(script.evicts(eviction) == [])
        // The entry is still the least recently used one, and is evicted once its file has changed.
        _ = script.changes(.appeared(script.key("a")))
        #expect(script.looksAt("a", .entry(Sample.facts()))?.isCached == true)
        #expect(script.evicts(EvictionGoal(bytes: 0), limit: 1) == ["a"])
    }

    @Test func skipsNothingIfNothingIsEvictable() {
        script.has("a", "b", allocated: 4 * block)
        let eviction = EvictionGoal(bytes: 0)
        #expect(script.evicts(eviction) == ["a", "b"])
        _ = script.keeps("a", "b", othersCould: false)
        #expect(script.evicts(eviction) == ["a", "b"])
    }

    @Test func evictsNothingForADownloadThatCannotFit() {
        script.has("a", "b", "c", "d", "e", allocated: 4 * block)
        #expect(script.evicts(EvictionGoal(bytes: 8 * block)) == ["a", "b", "c"])
        _ = script.keeps("a", "b", "c")
        // Twelve of the 20 blocks stay in use whatever is evicted.
        #expect(script.begins("f", 9 * block) == ["refused: noRoom"])
        #expect(script.holds("d") && script.holds("e"))
        #expect(script.begins("g", 7 * block).first?.hasPrefix("granted") == true)
        #expect(!script.holds("d") && !script.holds("e"))
    }

    @Test func countsAPinnedUnremovableEntryOnce() {
        script.has("a", "b", "c", allocated: 4 * block)
        #expect(script.evicts(EvictionGoal(bytes: 8 * block)) == ["a"])
        _ = script.keeps("a")
        _ = script.pins("a")
        #expect(script.begins("d", 15 * block).first?.hasPrefix("granted") == true)
    }

    @Test func aNewVersionOfAnUnremovableEntryEvictsOthers() {
        script.has("a", "b", allocated: 8 * block)
        #expect(script.evicts(EvictionGoal(bytes: 8 * block)) == ["a"])
        _ = script.keeps("a")
        _ = script.want("a", by: nil, FetchOptions(isRefresh: true))
        #expect(
            script.asks("a", for: 1, of: 11 * block).prefix(2) == ["granted 45056", "without b"])
    }

    @Test func retriesUnremovableEntriesAfterLostChanges() {
        script.has("a", "b", allocated: 4 * block)
        let eviction = EvictionGoal(bytes: 4 * block)
        #expect(script.evicts(eviction) == ["a"])
        _ = script.keeps("a")
        #expect(script.changes(.overflowed) == ["scan"])
        #expect(script.state.disk.space.unevictable.isEmpty)
    }

    // MARK: The floor of free space

    @Test func theFreeSpaceFloorLowersTheByteLimit() {
        script.has("a", "b", allocated: 4 * block)
        script.state.disk.space.budget.minimumFree = 10 * block
        script.state.disk.measured(free: 12 * block)
        #expect(script.state.disk.space.ceiling == 10 * block)
        #expect(script.event { $0.fetching.limitsChecked(&$1) } == [])
        // Another program fills the disk.
        script.state.disk.measured(free: 7 * block)
        #expect(script.state.disk.space.ceiling == 5 * block)
        #expect(script.event { $0.fetching.limitsChecked(&$1) } == ["evict to 18432"])
        script.state.disk.measured(free: 0)
        #expect(script.state.disk.space.ceiling == 0)
        script.state.disk.measured(free: .max)
        #expect(script.state.disk.space.ceiling == 20 * block)
    }

    @Test func countsTheBytesOfADownloadOnce() {
        script.state.disk.space.budget.minimumFree = 10 * block
        script.state.disk.measured(free: 22 * block)
        #expect(script.begins("a", 7 * block) == ["granted 28672"])
        #expect(script.state.disk.space.ceiling == 12 * block)
        _ = script.progresses("a", received: 5 * block, total: 7 * block)
        script.state.disk.measured(free: 17 * block)
        #expect(script.state.disk.space.ceiling == 12 * block)
        #expect(script.begins("b", 3 * block) == ["granted 12288"])
    }

    // MARK: Partials

    @Test func estimatesThePartialOfAFailedDownloadUntilItIsProbed() {
        _ = script.begins("a", 9 * block)
        _ = script.progresses("a", received: 3 * block, total: 9 * block)
        _ = script.finishes("a", failing: .http(500))
        #expect(script.state.disk.bytesUsed == 4 * block)
        #expect(script.state.disk.space.partials.dirtyNames == [script.key("a")])
        script.state.disk.partialProbed(script.key("a"), 3 * block)
        #expect(script.state.disk.bytesUsed == 3 * block)
        _ = script.changes(.partialChanged(script.key("a")))
        #expect(script.state.disk.space.partials.dirtyNames == [script.key("a")])
        script.state.disk.partialProbed(script.key("a"), nil)
        #expect(script.state.disk.bytesUsed == 0)
    }

    @Test func bytesOfADownloadCountAgainstItsReservation() {
        script.state.disk.partialProbed(script.key("a"), 5 * block)
        _ = script.begins("a", 3 * block)
        #expect(script.state.disk.bytesHeld == 4 * block)
        _ = script.changes(.partialChanged(script.key("a")))
        script.state.disk.partialProbed(script.key("a"), 2 * block)
        #expect(script.state.disk.bytesHeld == 4 * block)
        _ = script.finishes("a")
        _ = script.published("a", Sample.facts(allocated: 4 * block))
        // The partial was renamed, so a probe of its name would find nothing.
        #expect(script.state.disk.bytesUsed == 4 * block)
    }

    @Test func countsExternalPartials() {
        let start = script.state.disk.beginProbe()
        script.scans([.partial(script.key("a"), 6 * block)], since: start)
        #expect(script.state.disk.bytesUsed == 6 * block)
        #expect(script.removes("a") == ["discard a"])
    }

    // MARK: Memory pressure

    @Test func memoryPressureHalvesTheDownloadsForAWhile() {
        let script = StateScript(transferLimit: 4)
        let end = ContinuousClock.now + .seconds(60)
        script.state.fetching.scheduler.throttle(until: end)
        script.caller("reader", wants: "a", "b", "c", "d") {
            #expect($0 == ["start a", "start b"])
        }
        #expect(script.event { $0.fetching.timePassed(now: end - .seconds(1), &$1) } == [])
        #expect(script.event { $0.fetching.timePassed(now: end, &$1) } == ["start c", "start d"])
        #expect(script.event { $0.fetching.timePassed(now: end + .seconds(60), &$1) } == [])
    }

    @Test func repeatedMemoryPressureHalvesTheLimitOnlyOnce() {
        let script = StateScript(transferLimit: 4)
        for _ in 0..<3 { script.state.fetching.scheduler.throttle(until: .now) }
        script.caller("reader", wants: "a", "b", "c") {
            #expect($0 == ["start a", "start b"])
        }
    }

    @Test func memoryPressureLeavesAtLeastOneDownload() {
        let script = StateScript(transferLimit: 2)
        for _ in 0..<3 { script.state.fetching.scheduler.throttle(until: .now) }
        script.caller("reader", wants: "a", "b") { #expect($0 == ["start a"]) }
    }

    /// If changes were lost during the first scan, or the directory was replaced, the index is
    /// incomplete and unordered.
    @Test(arguments: [false, true])
    func evictsNothingBeforeTheScanCompletes(isReplaced: Bool) {
        script.has("a", "b", allocated: 4 * block)
        script.state.disk.validity = isReplaced ? .complete : .loading
        if !isReplaced { script.state.disk.scanBegan() }
        _ = isReplaced ? script.event { $0.directoryReplaced(&$1) } : script.changes(.overflowed)
        if isReplaced { script.state.disk.scanBegan() }
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
            // The state asks for another scan because changes were lost.
            #expect(!script.scanFinishes())
            #expect(script.event { $0.fetching.limitsChecked(&$1) } == [])
            script.state.disk.scanBegan()
        }
        #expect(script.scanFinishes())
        #expect(script.event { $0.fetching.limitsChecked(&$1) }.count == 1)
    }

    @Test func aReplacementDoesNotRaiseTheEntryCount() {
        script.has("a", "b", "c", "d", allocated: 512)
        _ = script.limits { $0.maximumEntries = 5 }
        for name in ["a", "b", "c"] {
            _ = script.want(name, by: nil, FetchOptions(isRefresh: true))
            #expect(script.asks(name, for: 1, of: 512) == ["granted 512"])
        }
        #expect(script.begins("e", 512) == ["granted 512"])
        // The limit is exceeded by one entry.
        #expect(script.begins("f", 512).contains("without d"))
    }

    @Test func partialsOfFailedDownloadsCauseNoFurtherEviction() {
        script.state.disk.partialProbed(script.key("x"), 10 * block)
        script.has("a", "b", "c", "d", allocated: 2 * block)
        #expect(script.state.disk.bytesUsed == 18 * block)
        let effects = script.limits { $0.maximumBytes = 17 * block }
        #expect(effects == ["evict to \(10 * block + Budget.watermark(7 * block))"])
    }

    /// Programs have some of the evicted files open. Only the free space shows it.
    @Test func bytesThatReadersKeepMakeNoRoom() {
        script.has("a", "b", "c", allocated: 4 * block)
        script.state.disk.space.budget.minimumFree = 4 * block
        script.state.disk.measured(free: 4 * block)
        #expect(script.begins("d", 3 * block).prefix(2) == ["granted 12288", "without a"])
        _ = script.loses("a")
        script.state.disk.measured(free: 4 * block)
        // It has its reservation, and asks whether that holds.
        let second = script.asks("d", for: 1, of: 3 * block)
        #expect(second.prefix(2) == ["granted 12288", "without b"])
        _ = script.loses("b")
        script.state.disk.measured(free: 8 * block)
        #expect(script.asks("d", for: 1, of: 3 * block) == ["granted 12288"])
        #expect(script.holds("c"))
        #expect(script.state.disk.space.reserved == 4 * block)
    }

    @Test func aDownloadFailsIfReadersKeepAllThatWasEvicted() {
        script.has("a", "b", allocated: 4 * block)
        script.state.disk.space.budget.minimumFree = 4 * block
        script.state.disk.measured(free: 4 * block)
        _ = script.begins("d", 3 * block)
        for image in ["a", "b"] {
            #expect(script.asks("d", for: 1, of: 3 * block).first != "refused: noRoom")
            _ = script.loses(image)
            script.state.disk.measured(free: 4 * block)
        }
        #expect(script.asks("d", for: 1, of: 3 * block) == ["refused: noRoom"])
        #expect(script.refusal?.message.contains("programs that have evicted images open") == true)
        _ = script.finishes("d", failing: script.refusal)
        // The programs close them.
        script.state.disk.measured(free: 12 * block)
        #expect(script.begins("d", 3 * block) == ["granted 12288"])
    }

    @Test func evictionsForTheFloorEndWhenItIsReached() {
        script.has("a", "b", "c", "d", allocated: 4 * block)
        script.state.disk.space.budget.minimumFree = 4 * block
        func measured(_ blocks: Int64) -> [String] {
            script.event { state, effects in
                state.disk.measured(free: blocks * block)
                state.fetching.limitsChecked(&effects)
            }
        }
        #expect(measured(4) == [])
        #expect(measured(3) == ["evict to \(Budget.watermark(15 * block))"])
        let eviction = EvictionGoal(bytes: Budget.watermark(15 * block))
        #expect(script.evicts(eviction, isOwn: true) == ["a"])
        _ = script.loses("a")
        #expect(measured(3) == ["evict to \(Budget.watermark(11 * block))"])
        #expect(measured(7) == [])
    }

    @Test func anotherDirectoryHasItsOwnSpace() {
        script.state.disk.measured(free: 3 * block)
        _ = script.event { $0.directoryReplaced(&$1) }
        #expect(script.state.disk.space.ceiling == 20 * block)
    }
}
