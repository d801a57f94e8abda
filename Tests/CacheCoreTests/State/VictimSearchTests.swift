import CacheKey
import Testing

@testable import CacheCore

private let block: Int64 = 4096

/// Who has to go where very much is spared: nobody waits for the lock until all of that is gone past.
@Suite("State: search for victims", .timeLimit(.minutes(5)))
struct VictimSearchTests {
    private let steps = VictimSearch().steps
    private let all = Eviction(goal: EvictionGoal(bytes: 0))

    /// A state whose first entries in the order of use are on their way once more.
    private func state(flying: Int, _ others: String...) -> CacheState {
        var state = CacheState(transferLimit: 1)
        state.trust = .whole
        for number in 0..<flying {
            let (key, url) = (Sample.key("\(number)"), Sample.url("\(number)"))
            state.index.insert(key, Sample.facts(allocated: block))
            _ = state.join(key, url)
            state.hold(key, FetchOptions())
        }
        for name in others { state.index.insert(Sample.key(name), Sample.facts(allocated: block)) }
        return state
    }

    private func keys(_ victims: [Victim]) -> [DirectoryName] { victims.map(\.name) }

    private func entries(_ names: String...) -> [DirectoryName] {
        names.map { .entry(Sample.key($0)) }
    }

    @Test func aSliceGivesTheLockBackBeforeItFoundAny() {
        var state = state(flying: 2 * steps + 10, "a", "b")
        for _ in 0..<2 {
            let slice = state.evictionSlice(all, limit: 1)
            #expect(slice.victims.isEmpty && !slice.isLast)
        }
        let first = state.evictionSlice(all, limit: 1)
        #expect(keys(first.victims) == entries("a"))
        // What was gone past is not again.
        let second = state.evictionSlice(all, limit: 9)
        #expect(keys(second.victims) == entries("b"))
        #expect(second.isLast)
        state.index.insert(Sample.key("c"), Sample.facts(allocated: block))
        let third = state.evictionSlice(all, limit: 9)
        #expect(keys(third.victims) == entries("c"))
        #expect(third.isLast)
        state.checkInvariants()
    }

    @Test func whoIsSparedNoLongerGoesFirstInTheOrderOfUse() {
        var state = state(flying: steps + 10, "a", "b")
        while state.evictionSlice(all, limit: 1).victims.isEmpty {}
        for name in ["700", "9", "30"] { _ = state.endFlight(Sample.key(name)) }
        // On its way again before anybody looked.
        _ = state.join(Sample.key("30"), Sample.url("30"))
        state.hold(Sample.key("30"), FetchOptions())
        state.checkInvariants()
        let slice = state.evictionSlice(all, limit: 9)
        #expect(keys(slice.victims) == entries("9", "700", "b"))
        _ = state.endFlight(Sample.key("30"))
        let last = state.evictionSlice(all, limit: 9)
        #expect(keys(last.victims) == entries("30"))
        state.checkInvariants()
    }

    @Test func whatIsPinnedNoLongerGoesFirst() {
        var state = state(flying: 0, "a", "b", "c")
        for name in ["a", "b"] { _ = state.pinned(Sample.key(name), true) }
        let first = state.evictionSlice(all, limit: 9)
        #expect(keys(first.victims) == entries("c"))
        state.index.insert(Sample.key("d"), Sample.facts(allocated: block))
        for name in ["b", "a"] { _ = state.pinned(Sample.key(name), false) }
        state.checkInvariants()
        let second = state.evictionSlice(all, limit: 9)
        #expect(keys(second.victims) == entries("a", "b", "d"))
        state.checkInvariants()
    }

    /// Whoever changes pins all the time does not keep a search from its end.
    @Test func aSearchGoesOnWherePinsChange() {
        var state = state(flying: 3 * steps, "a")
        for _ in 0..<3 {
            let slice = state.evictionSlice(all, limit: 1)
            #expect(slice.victims.isEmpty)
            for isPinned in [true, false] { _ = state.pinned(Sample.key("7"), isPinned) }
        }
        let slice = state.evictionSlice(all, limit: 1)
        #expect(keys(slice.victims) == entries("a"))
        state.checkInvariants()
    }

    @Test func whatWasUsedMeanwhileGoesLast() {
        var state = state(flying: steps + 10, "a", "b", "c")
        while state.evictionSlice(all, limit: 1).victims.isEmpty {}
        for name in ["5", "6"] { _ = state.endFlight(Sample.key(name)) }
        state.used(Sample.key("5"), at: .now)
        let slice = state.evictionSlice(all, limit: 9)
        #expect(keys(slice.victims) == entries("6", "b", "c", "5"))
        state.checkInvariants()
    }

    @Test func whatCanBeRemovedAfterAllGoesFirst() {
        var state = state(flying: 0, "a", "b", "c")
        let first = state.evictionSlice(all, limit: 1)
        _ = state.stuck(first.victims, othersMayGo: true)
        let second = state.evictionSlice(all, limit: 1)
        #expect(keys(second.victims) == entries("b"))
        state.retryEviction(.entry(Sample.key("a")))
        let third = state.evictionSlice(all, limit: 9)
        #expect(keys(third.victims) == entries("a", "c"))
        state.checkInvariants()
    }

    @Test func aDownloadSearchesOnUntilItHasRoom() {
        var state = state(flying: steps + 10, "a")
        state.budget.maximumBytes = state.held
        let key = Sample.key("new")
        _ = state.join(key, Sample.url("new"))
        state.hold(key, FetchOptions())
        guard let id = state.flights[key]?.id else { return }
        let (none, _) = state.roomAsked(key, id, needed: 1, length: nil)
        guard case .again = none.grant else {
            Issue.record("all was gone past under one hold of the lock: \(none)")
            return
        }
        #expect(none.victims.isEmpty)
        state.index.insert(Sample.key("b"), Sample.facts(allocated: block))
        state.budget.maximumBytes += block
        let (answer, _) = state.roomAsked(key, id, needed: 1, length: 2)
        guard case .granted = answer.grant else {
            Issue.record("\(answer)")
            return
        }
        #expect(keys(answer.victims) == entries("a", "b"))
        state.checkInvariants()
    }

    @Test func manySmallOnesGoForALargeOneInTurnsThatOthersMayNotTake() {
        var state = state(flying: 0)
        let (slice, count) = (VictimSearch.slice, 2 * VictimSearch.slice + 10)
        for number in 0..<count {
            state.index.insert(Sample.key("\(number)"), Sample.facts(allocated: block))
        }
        state.budget.maximumBytes = state.held
        let ids = ["large", "small"].map { name -> FlightID in
            let key = Sample.key(name)
            _ = state.join(key, Sample.url(name))
            state.hold(key, FetchOptions())
            return state.flights[key]!.id
        }
        let length = Int64(count - 5) * block
        func ask() -> (SpaceAnswer, [Effect]) {
            state.roomAsked(Sample.key("large"), ids[0], needed: 1, length: length)
        }
        for _ in 0..<2 {
            let (answer, effects) = ask()
            guard case .again = answer.grant, case .resumeTransfer(ids[0])? = effects.last else {
                Issue.record("\(answer), \(effects)")
                return
            }
            #expect(answer.victims.count == slice)
            _ = state.unlinked(answer.victims)
            let (other, _) = state.roomAsked(
                Sample.key("small"), ids[1], needed: 1, length: block)
            guard case .wait = other.grant else {
                Issue.record("\(other)")
                return
            }
            state.checkInvariants()
        }
        let (answer, _) = ask()
        guard case .granted(upTo: length) = answer.grant else {
            Issue.record("there is room: \(answer)")
            return
        }
        #expect(1...10 ~= answer.victims.count)
        #expect(state.room.waiting.map(\.id) == [ids[1]])
        state.checkInvariants()
    }

    @Test func theFullDiskIsSearchedToTheEnd() {
        var state = state(flying: steps + 10, "a")
        let (first, _) = state.diskFilled(Sample.key("0"), block)
        #expect(first.victims.isEmpty && first.isCutShort)
        let (second, _) = state.diskFilled(Sample.key("0"), block)
        #expect(keys(second.victims) == entries("a"))
        #expect(!second.isCutShort)
    }
}
