import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

private let block: Int64 = 4096

/// The search for victims when some entries are spared.
@Suite("State: search for victims", .timeLimit(.minutes(5)))
struct VictimSearchTests {
    private let all = EvictionGoal(bytes: 0)

    /// A state whose least recently used entries are being refreshed.
    private func state(flying: Int, _ others: String...) -> CacheState {
        var state = CacheState(FetchingState(transferLimit: 1))
        state.disk.validity = .complete
        for number in 0..<flying {
            let (key, url) = (Sample.key("\(number)"), Sample.url("\(number)"))
            _ = state.disk.insert(key, Sample.facts(allocated: block))
            request(key, url, &state)
        }
        for name in others { insert(name, &state) }
        return state
    }

    private func insert(_ name: String, at time: UInt32 = 1_790_000_000, _ state: inout CacheState)
    {
        _ = state.disk.insert(
            Sample.key(name), Sample.facts(allocated: block, lastUsedAt: time))
    }

    private func request(_ key: CacheKey, _ url: CacheURL, _ state: inout CacheState) {
        var effects = Effects()
        state.fetching.requested(
            key, url, by: nil, FetchOptions(isRefresh: true), now: FileTime(nanoseconds: 1),
            &effects)
    }

    private func ends(_ name: String, _ state: inout CacheState) {
        var effects = Effects()
        state.fetching.endFlight(Sample.key(name), &effects)
    }

    private func slice(
        _ limit: Int, _ state: inout CacheState
    ) -> (victims: [Victim], isLast: Bool) {
        state.run { $0.evictionSlice(all, isOwn: false, limit: limit, &$1) }.answer
    }

    private func keys(_ victims: [Victim]) -> [DirectoryName] { victims.map(\.name) }

    private func entries(_ names: String...) -> [DirectoryName] {
        names.map { .entry(Sample.key($0)) }
    }

    @Test func skipsEntriesThatAreDownloadedAgain() {
        var state = state(flying: 100, "a", "b")
        let first = slice(1, &state)
        #expect(keys(first.victims) == entries("a"))
        let second = slice(9, &state)
        #expect(keys(second.victims) == entries("b"))
        #expect(second.isLast)
        state.fetching.checkInvariants()
    }

    /// The lock is not held for longer than a search may take.
    @Test func skipsABoundedNumberOfEntries() {
        var state = state(flying: VictimPosition().unused.steps + 10, "a")
        let found = slice(9, &state)
        #expect(found.victims.isEmpty && found.isLast)
        for number in 0..<20 { ends("\(number)", &state) }
        let next = slice(30, &state)
        #expect(next.victims.count == 21 && keys(next.victims).last == entries("a").first)
    }

    @Test func evictsAnEntryFirstOnceItsDownloadEnds() {
        var state = state(flying: 1000, "a", "b")
        _ = slice(1, &state)
        for name in ["700", "9", "30"] { ends(name, &state) }
        // The entry is being refreshed again before a search looks.
        request(Sample.key("30"), Sample.url("30"), &state)
        let found = slice(9, &state)
        #expect(keys(found.victims) == entries("9", "700", "b"))
        ends("30", &state)
        let last = slice(9, &state)
        #expect(keys(last.victims) == entries("30"))
        state.fetching.checkInvariants()
    }

    @Test func evictsAnUnpinnedEntryFirst() {
        var state = state(flying: 0)
        insert("a", at: 1_790_000_001, &state)
        insert("b", at: 1_790_000_002, &state)
        insert("c", at: 1_790_000_003, &state)
        for name in ["a", "b"] { _ = state.run { $0.pinned(Sample.key(name), true, &$1) } }
        let first = slice(9, &state)
        #expect(keys(first.victims) == entries("c"))
        insert("d", at: 1_790_000_004, &state)
        for name in ["b", "a"] { _ = state.run { $0.pinned(Sample.key(name), false, &$1) } }
        state.fetching.checkInvariants()
        let second = slice(9, &state)
        #expect(keys(second.victims) == entries("a", "b", "d"))
        state.fetching.checkInvariants()
    }

    @Test func evictsAnEntryThatWasUsedLast() {
        var state = state(flying: 10, "a", "b", "c")
        _ = slice(1, &state)
        for name in ["5", "6"] { ends(name, &state) }
        state.disk.used(Sample.key("5"), at: FileTime(Sample.now))
        let found = slice(9, &state)
        #expect(keys(found.victims) == entries("6", "b", "c", "5"))
        state.fetching.checkInvariants()
    }

    @Test func evictsAnEntryFirstOnceItBecomesRemovable() {
        var state = state(flying: 0, "a", "b", "c")
        let first = slice(1, &state)
        _ = state.run { $0.unlinkFailed(first.victims, othersCould: true, &$1) }
        let second = slice(1, &state)
        #expect(keys(second.victims) == entries("b"))
        state.disk.space.retryEviction(of: .entry(Sample.key("a")))
        let third = slice(9, &state)
        #expect(keys(third.victims) == entries("a", "c"))
        state.fetching.checkInvariants()
    }

    @Test func evictsManySmallEntriesForALargeOneSliceBySlice() {
        var state = state(flying: 0)
        let (slice, count) = (VictimSearch.slice, 2 * VictimSearch.slice + 10)
        for number in 0..<count { insert("\(number)", &state) }
        state.disk.space.budget.maximumBytes = state.disk.bytesHeld
        let key = Sample.key("large")
        request(key, Sample.url("large"), &state)
        guard let id = state.fetching.downloads[key]?.id else { return }
        let length = Int64(count - 5) * block
        func ask(_ state: inout CacheState) -> SpaceAnswer {
            state.run { $0.fetching.spaceRequested(key, id, needed: 1, length: length, &$1) }.answer
        }
        for _ in 0..<2 {
            let answer = ask(&state)
            guard case .evicting = answer.grant else {
                Issue.record("unexpected answer: \(answer)")
                return
            }
            #expect(answer.victims.count == slice)
            _ = state.run { $0.unlinked(answer.victims, &$1) }
        }
        let answer = ask(&state)
        guard case .granted(upTo: length) = answer.grant else {
            Issue.record("there is space: \(answer)")
            return
        }
        #expect(1...10 ~= answer.victims.count)
    }

    /// A caller gets the cached image `a`. The others are used after that.
    private func gives(to options: FetchOptions, _ state: inout CacheState) -> WaiterID {
        let id = state.fetching.waiterBegan(options)
        let now = FileTime(Sample.now)
        _ = state.run {
            $0.fetching.requested(Sample.key("a"), Sample.url("a"), by: id, options, now: now, &$1)
        }
        for name in ["b", "c"] { state.disk.used(Sample.key(name), at: now) }
        return id
    }

    @Test func theImagesOfARunningCallGoLast() {
        var running = state(flying: 0, "a", "b", "c")
        _ = gives(to: FetchOptions(), &running)
        let found = slice(9, &running)
        #expect(keys(found.victims) == entries("b", "c", "a") && found.isLast)
        var ended = state(flying: 0, "a", "b", "c")
        let id = gives(to: FetchOptions(), &ended)
        _ = ended.run { $0.fetching.waiterNamed(id, &$1) }
        let after = slice(9, &ended)
        #expect(keys(after.victims) == entries("a", "b", "c"))
        ended.fetching.checkInvariants()
    }

    @Test func theImagesOfACallGoLastUntilItsReplyIsWritten() {
        var state = state(flying: 0, "a", "b", "c")
        let id = gives(to: FetchOptions(isHeld: true), &state)
        _ = state.run { $0.fetching.waiterNamed(id, &$1) }
        let first = slice(1, &state)
        #expect(keys(first.victims) == entries("b"))
        let rest = state.fetching.waiterReported(id, limit: 0)
        #expect(rest == [Sample.key("a")])
        let second = slice(1, &state)
        #expect(keys(second.victims) == entries("c"))
        state.fetching.released(Array(rest)[...])
        #expect(!state.fetching.waiters.isGiven(Sample.key("a")))
        let last = slice(1, &state)
        #expect(keys(last.victims) == entries("a"))
        state.fetching.checkInvariants()
    }

    @Test func manyImagesOfRunningCallsAreSkippedOnlyOnce() {
        var state = state(flying: 0)
        let id = state.fetching.waiterBegan()
        let count = 2000
        for number in 0..<count {
            insert("\(number)", &state)
            _ = state.run {
                $0.fetching.requested(
                    Sample.key("\(number)"), Sample.url("\(number)"), by: id, FetchOptions(),
                    now: FileTime(nanoseconds: 1), &$1)
            }
        }
        for number in 0..<50 { insert("later \(number)", at: 1_790_000_001, &state) }
        let found = slice(50, &state)
        #expect(keys(found.victims) == (0..<50).map { .entry(Sample.key("later \($0)")) })
    }

    @Test func theFullDiskIsSearchedToTheEnd() {
        var state = state(flying: 100, "a")
        let victims = state.run { $0.fetching.diskFilled(Sample.key("0"), block, &$1) }.answer
        #expect(keys(victims) == entries("a"))
    }
}
