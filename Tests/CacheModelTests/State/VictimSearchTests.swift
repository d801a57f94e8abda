import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheModel

private let block: Int64 = 4096

/// The search for victims when many entries are spared: it never holds the lock while it skips all
/// of them.
@Suite("State: search for victims", .timeLimit(.minutes(5)))
struct VictimSearchTests {
    private let steps = VictimSearch().steps
    private let all = EvictionGoal(bytes: 0)

    /// A state whose least recently used entries are being refreshed.
    private func state(flying: Int, _ others: String...) -> CacheState {
        var state = CacheState(transferLimit: 1)
        state.catalog.validity = .complete
        for number in 0..<flying {
            let (key, url) = (Sample.key("\(number)"), Sample.url("\(number)"))
            _ = state.catalog.insert(key, Sample.facts(allocated: block))
            request(key, url, &state)
        }
        for name in others { insert(name, &state) }
        return state
    }

    private func insert(_ name: String, _ state: inout CacheState) {
        _ = state.catalog.insert(Sample.key(name), Sample.facts(allocated: block))
    }

    private func request(_ key: CacheKey, _ url: CacheURL, _ state: inout CacheState) {
        var effects = Effects()
        state.requested(
            key, url, by: nil, FetchOptions(isRefresh: true), now: FileTime(nanoseconds: 1),
            &effects)
    }

    private func ends(_ name: String, _ state: inout CacheState) {
        var effects = Effects()
        state.endFlight(Sample.key(name), &effects)
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

    @Test func aSliceReleasesTheLockBeforeItFindsAVictim() {
        var state = state(flying: 2 * steps + 10, "a", "b")
        for _ in 0..<2 {
            let found = slice(1, &state)
            #expect(found.victims.isEmpty && !found.isLast)
        }
        let first = slice(1, &state)
        #expect(keys(first.victims) == entries("a"))
        // The search does not visit skipped entries again.
        let second = slice(9, &state)
        #expect(keys(second.victims) == entries("b"))
        #expect(second.isLast)
        insert("c", &state)
        let third = slice(9, &state)
        #expect(keys(third.victims) == entries("c"))
        #expect(third.isLast)
        state.checkInvariants()
    }

    @Test func evictsAnEntryFirstOnceItsDownloadEnds() {
        var state = state(flying: steps + 10, "a", "b")
        while slice(1, &state).victims.isEmpty {}
        for name in ["700", "9", "30"] { ends(name, &state) }
        // The entry is being refreshed again before a search looks.
        request(Sample.key("30"), Sample.url("30"), &state)
        state.checkInvariants()
        let found = slice(9, &state)
        #expect(keys(found.victims) == entries("9", "700", "b"))
        ends("30", &state)
        let last = slice(9, &state)
        #expect(keys(last.victims) == entries("30"))
        state.checkInvariants()
    }

    @Test func evictsAnUnpinnedEntryFirst() {
        var state = state(flying: 0, "a", "b", "c")
        for name in ["a", "b"] { _ = state.run { $0.pinned(Sample.key(name), true, &$1) } }
        let first = slice(9, &state)
        #expect(keys(first.victims) == entries("c"))
        insert("d", &state)
        for name in ["b", "a"] { _ = state.run { $0.pinned(Sample.key(name), false, &$1) } }
        state.checkInvariants()
        let second = slice(9, &state)
        #expect(keys(second.victims) == entries("a", "b", "d"))
        state.checkInvariants()
    }

    /// Constant changes of pins do not keep a search from ending.
    @Test func aSearchContinuesWhilePinsChange() {
        var state = state(flying: 3 * steps, "a")
        for _ in 0..<3 {
            let found = slice(1, &state)
            #expect(found.victims.isEmpty)
            for isPinned in [true, false] {
                _ = state.run { $0.pinned(Sample.key("7"), isPinned, &$1) }
            }
        }
        let found = slice(1, &state)
        #expect(keys(found.victims) == entries("a"))
        state.checkInvariants()
    }

    @Test func evictsAnEntryUsedDuringTheSearchLast() {
        var state = state(flying: steps + 10, "a", "b", "c")
        while slice(1, &state).victims.isEmpty {}
        for name in ["5", "6"] { ends(name, &state) }
        state.catalog.used(Sample.key("5"), at: FileTime(Sample.now))
        let found = slice(9, &state)
        #expect(keys(found.victims) == entries("6", "b", "c", "5"))
        state.checkInvariants()
    }

    @Test func evictsAnEntryFirstOnceItBecomesRemovable() {
        var state = state(flying: 0, "a", "b", "c")
        let first = slice(1, &state)
        _ = state.run { $0.unlinkFailed(first.victims, othersCould: true, &$1) }
        let second = slice(1, &state)
        #expect(keys(second.victims) == entries("b"))
        state.retryEviction(of: .entry(Sample.key("a")))
        let third = slice(9, &state)
        #expect(keys(third.victims) == entries("a", "c"))
        state.checkInvariants()
    }

    @Test func aDownloadSearchesOnUntilItHasSpace() {
        var state = state(flying: steps + 10, "a")
        state.space.budget.maximumBytes = state.bytesHeld + block
        let key = Sample.key("0")
        guard let id = state.downloads[key]?.id else { return }
        func ask(_ length: Int64?, _ state: inout CacheState) -> SpaceAnswer {
            state.run { $0.spaceRequested(key, id, needed: 1, length: length, &$1) }.answer
        }
        let none = ask(1, &state)
        guard case .evicting = none.grant else {
            Issue.record("one slice searched all entries without releasing the lock: \(none)")
            return
        }
        #expect(none.victims.isEmpty)
        let answer = ask(1, &state)
        guard case .granted = answer.grant else {
            Issue.record("unexpected answer: \(answer)")
            return
        }
        #expect(keys(answer.victims) == entries("a"))
        state.checkInvariants()
    }

    @Test func evictsManySmallEntriesForALargeOneSliceBySlice() {
        var state = state(flying: 0)
        let (slice, count) = (VictimSearch.slice, 2 * VictimSearch.slice + 10)
        for number in 0..<count { insert("\(number)", &state) }
        state.space.budget.maximumBytes = state.bytesHeld
        let key = Sample.key("large")
        request(key, Sample.url("large"), &state)
        guard let id = state.downloads[key]?.id else { return }
        let length = Int64(count - 5) * block
        func ask(_ state: inout CacheState) -> SpaceAnswer {
            state.run { $0.spaceRequested(key, id, needed: 1, length: length, &$1) }.answer
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

    @Test func theFullDiskIsSearchedToTheEnd() {
        var state = state(flying: steps + 10, "a")
        let first = state.run { $0.diskFilled(Sample.key("0"), block, &$1) }.answer
        #expect(first.victims.isEmpty && first.isCutShort)
        let second = state.run { $0.diskFilled(Sample.key("0"), block, &$1) }.answer
        #expect(keys(second.victims) == entries("a"))
        #expect(!second.isCutShort)
    }
}
