import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// One block of the disk in these scripts; an image takes its own and one for its attributes.
private let block: Int64 = 4096

/// Space for downloads: reserved before bytes arrive, freed by evicting the least recently used
/// entries.
@Suite("State: space", .timeLimit(.minutes(5)))
struct SpaceScriptTests {
    let script = StateScript(bytes: 20 * block)

    // MARK: Reservations

    @Test func reservesAKnownLengthAtOnce() {
        #expect(script.begins("a", 10_000) == ["granted 10000"])
        #expect(script.state.disk.space.reserved == 4 * block)
        #expect(script.state.disk.bytesHeld == 4 * block)
    }

    @Test func anUnknownLengthGrowsInSteps() {
        let script = StateScript(bytes: 1 << 20)
        _ = script.want("a", by: nil)
        #expect(script.asks("a", for: 1) == ["granted 262144"])
        #expect(script.state.disk.space.reserved == Budget.step + block)
        #expect(script.asks("a", for: Budget.step + 1) == ["granted 524288"])
        #expect(script.state.disk.space.reserved == 2 * Budget.step + block)
    }

    @Test func aStepEndsAtTheLargestImage() {
        let script = StateScript()
        script.state.disk.space.budget.maximumImageSize = 300_000
        _ = script.want("a", by: nil)
        _ = script.asks("a", for: 1)
        #expect(script.asks("a", for: Budget.step + 1) == ["granted 300000"])
        #expect(script.asks("a", for: 300_001) == ["refused: tooLarge"])
        #expect(script.asks("a", for: 1, of: 300_001) == ["refused: tooLarge"])
        #expect(script.refusal?.message.contains("--max-image-bytes") == true)
    }

    @Test func refusesAnAbsurdLengthAsTooLarge() {
        _ = script.want("a", by: nil)
        #expect(script.asks("a", for: 1, of: .max) == ["refused: noRoom"])
    }

    @Test func anAbsurdLengthCausesNoOverflowWithoutALimit() {
        let script = StateScript()
        _ = script.want("a", by: nil)
        script.state.disk.measured(free: 10 * block)
        #expect(script.asks("a", for: 1, of: .max) == ["refused: noRoom"])
    }

    @Test func anEndedDownloadGetsNoReservation() {
        _ = script.want("a", by: nil)
        let id = script.flight("a")
        _ = script.removes("a")
        let (answer, _) = script.state.run {
            $0.fetching.spaceRequested(script.key("a"), id, needed: 1, length: 1, &$1)
        }
        guard case .refused = answer.grant else {
            Issue.record("the ended download got a reservation")
            return
        }
    }

    // MARK: Images that can't fit

    @Test func retriesATooLargeImageAfterTheLimitGrows() {
        let kinds = [("a", Failure.Kind.tooLarge), ("b", .notAnImage)]
        for (image, kind) in kinds {
            script.state.fetching.failures.record(Failure(kind, "as it was"), of: script.key(image))
        }
        _ = script.limits { $0.maximumImageSize /= 2 }
        #expect(script.state.fetching.failures[script.key("a")]?.kind == .tooLarge)
        _ = script.limits { $0.maximumImageSize *= 2 }
        #expect(script.state.fetching.failures[script.key("a")] == nil)
        #expect(script.state.fetching.failures[script.key("b")]?.kind == .notAnImage)
    }

    @Test func refusesAnImageThatCanNeverFitAndEvictsNothing() {
        script.has("a", "b", allocated: 4 * block)
        #expect(script.begins("c", 20 * block) == ["refused: noRoom"])
        #expect(script.refusal?.message.contains("(--max-bytes)") == true)
        #expect(script.refusal?.message.contains("pinned") == false)
        #expect(script.holds("a") && script.holds("b"))
        #expect(script.state.fetching.counters.refused == 1)
    }

    @Test func aBudgetFullOfPinsRefusesWithAReason() {
        script.has("a", "b", allocated: 8 * block)
        _ = script.pins("a")
        #expect(script.begins("c", 11 * block).first == "granted 45056")
        _ = script.finishes("c", failing: .http(500))
        _ = script.loses("b")
        #expect(script.begins("d", 12 * block) == ["refused: noRoom"])
        #expect(script.refusal?.message.contains("pinned images take 32768; unpin") == true)
        #expect(script.begins("e", 11 * block).first == "granted 45056")
    }

    /// The pinned entry is counted once, not a second time as the entry being replaced.
    @Test func aNewVersionOfAPinnedEntryEvictsOthers() {
        script.has("a", "b", allocated: 8 * block)
        _ = script.pins("a")
        _ = script.want("a", by: nil, FetchOptions(isRefresh: true))
        #expect(
            script.asks("a", for: 1, of: 11 * block).prefix(2) == ["granted 45056", "without b"])
    }

    @Test func anImageOfTheLargestSizeIsNotTooLarge() {
        let script = StateScript()
        script.state.disk.space.budget.maximumImageSize = 300_000
        _ = script.want("a", by: nil)
        let (key, id) = (script.key("a"), script.flight("a"))
        #expect(script.state.fetching.lengthPromised(key, id, 300_000) == nil)
        #expect(script.state.fetching.lengthPromised(key, id, 300_001)?.kind == .tooLarge)
    }

    @Test func aFullFileSystemRefusesAndReportsTheFloor() {
        script.state.disk.space.budget.minimumFree = 10 * block
        script.state.disk.measured(free: 12 * block)
        #expect(script.begins("a", 2 * block) == ["refused: noRoom"])
        #expect(script.refusal?.message.contains("(--min-free)") == true)
        #expect(script.begins("b", block) == ["granted 4096"])
    }

    @Test func refusesAndReportsTheCountIfAllEntriesArePinned() {
        let script = StateScript(entries: 2)
        script.has("a", "b", allocated: block)
        _ = script.pins("a")
        _ = script.pins("b")
        #expect(script.begins("c", 1) == ["refused: noRoom"])
        #expect(script.refusal?.message.contains("(--max-entries)") == true)
        // A new version does not raise the entry count.
        _ = script.want("a", by: nil, FetchOptions(isRefresh: true))
        #expect(script.asks("a", for: 1, of: 1) == ["granted 1"])
    }

    @Test func refusesANewVersionThatCannotFitBesideTheOld() {
        script.has("a", allocated: 11 * block)
        script.has("b", allocated: 4 * block)
        _ = script.want("a", by: nil, FetchOptions(isRefresh: true))
        #expect(script.asks("a", for: 1, of: 9 * block) == ["refused: noRoom"])
        #expect(script.holds("b"))
        #expect(script.asks("a", for: 1, of: 8 * block).first == "granted 32768")
    }

    // MARK: Victims

    @Test func evictsJustEnoughInTheOrderOfUse() {
        script.has("a", "b", "c", "d", "e", allocated: 4 * block)
        script.caller("reader", wants: "a")
        #expect(
            script.begins("f", 4 * block) == ["granted 16384", "without b", "without c"])
        // Twelve blocks are used and five reserved, which is already below the watermark.
        #expect(script.order == ["a", "e", "d"].map(script.key))
        // The victims are counted as evicted once their files are gone.
        #expect(script.state.fetching.counters.evicted == .nothing)
        _ = script.loses("b", "c")
        #expect(script.state.fetching.counters.evicted == Removal(entries: 2, bytes: 8 * block))
    }

    @Test func aFullDiskEvictsAtLeastTheOldestEntry() {
        script.has("a", "b", "c", allocated: 4 * block)
        _ = script.begins("d", 2 * block)
        func goFor(_ bytes: Int64) -> [String] { script.diskFills("d", bytes) }
        // Inodes are short, then bytes.
        #expect(goFor(0) == ["a"])
        // The bytes needed exceed all evictable bytes, so evicting would not help.
        #expect(goFor(9 * block) == [])
        _ = script.pins("c")
        #expect(goFor(5 * block) == [])
        #expect(goFor(3 * block) == ["b"])
        #expect(goFor(0) == [])
        #expect(script.holds("c"))
    }

    @Test func evictionContinuesToTheWatermark() {
        script.has("a", "b", "c", "d", "e", allocated: 4 * block)
        #expect(script.begins("f", 2 * block) == ["granted 8192", "without a", "evict to 73728"])
        let eviction = EvictionGoal(bytes: 73728)
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == ["b"])
        #expect(script.state.disk.space.isEvicting)
        #expect(script.evicts(eviction, isOwn: true, limit: 1) == [])
        #expect(!script.state.disk.space.isEvicting)
    }

    /// Otherwise the new image would be evicted itself, if nothing else is evictable.
    @Test func anEvictionEndsWithItsLastVictim() {
        script.has("a", "b", "c", "d", "e", allocated: 4 * block)
        #expect(script.begins("f", 2 * block) == ["granted 8192", "without a", "evict to 73728"])
        let eviction = EvictionGoal(bytes: 73728)
        #expect(script.evicts(eviction, isOwn: true) == ["b"])
        #expect(!script.state.disk.space.isEvicting)
    }

    @Test func sparesPinnedAndDownloadingEntries() {
        script.has("a", "b", "c", "d", allocated: 5 * block)
        for image in ["a", "b", "c", "d"] { script.caller("reader", wants: image) }
        _ = script.pins("a")
        _ = script.want("b", by: nil, FetchOptions(isRefresh: true))
        // The request counted as a use.
        #expect(script.order.first == script.key("b"))
        for image in ["c", "d"] { script.caller("reader", wants: image) }
        #expect(
            script.begins("e", 8 * block) == [
                "granted 32768", "without c", "without d", "evict to 73728",
            ])
        #expect(script.begins("f", block) == ["wait"])
        #expect(script.holds("a") && script.holds("b"))
    }

    @Test func evictsAnUnpinnedEntryInTheOrderOfUse() {
        script.has("a", "b", "c", "d", allocated: 5 * block)
        _ = script.pins("a")
        #expect(script.begins("e", block) == ["granted 4096", "without b"])
        _ = script.loses("b")
        _ = script.pins("a", false)
        #expect(script.begins("f", 3 * block) == ["granted 12288", "without a"])
    }

    @Test func evictsAPartialLast() {
        script.has("a", allocated: 8 * block)
        _ = script.begins("b", 9 * block)
        _ = script.progresses("b", received: 9 * block, total: nil)
        _ = script.finishes("b", failing: .http(500))
        #expect(script.begins("c", 7 * block).prefix(2) == ["granted 28672", "without a"])
        _ = script.finishes("c")
        _ = script.published("c", Sample.facts(allocated: 8 * block))
        _ = script.pins("c")
        _ = script.loses("a")
        #expect(script.begins("d", 2 * block) == ["granted 8192", "without partial b"])
    }

    // MARK: Entries

    @Test func oneEntryOverTheLimitEvictsTheOldest() {
        let script = StateScript(entries: 2)
        script.has("a", "b", allocated: block)
        #expect(script.begins("c", 1) == ["granted 1", "without a"])
        _ = script.finishes("c")
        _ = script.published("c")
        #expect(script.state.disk.index.count == 2)
    }

    @Test func evictsToTheEntryWatermark() {
        let script = StateScript(bytes: 1000 * block, entries: 20)
        for number in 0..<20 { script.has("\(number)", allocated: block) }
        #expect(
            script.begins("x", 1) == ["granted 1", "without 0", "evict to 3686400 and 18 entries"])
        let goal = EvictionGoal(bytes: 900 * block, entries: 18)
        #expect(script.evicts(goal, isOwn: true) == ["1", "2"])
        // The new entry's arrival evicts no more.
        _ = script.finishes("x")
        #expect(script.published("x") == [])
        #expect(script.evicts(goal, isOwn: true) == [])
        #expect(script.state.disk.index.count == 18)
    }

    @Test func pendingEntriesCountAgainstTheLimit() {
        let script = StateScript(entries: 2)
        #expect(script.begins("a", 1) == ["granted 1"])
        #expect(script.begins("b", 1) == ["granted 1"])
        #expect(script.begins("c", 1) == ["wait"])
        _ = script.finishes("a")
        #expect(script.published("a") == ["start c"])
        #expect(script.asks("c", for: 1, of: 1) == ["granted 1", "without a"])
    }
}
