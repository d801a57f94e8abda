import CacheKey
import Testing

@testable import CacheCore

private let block: Int64 = 4096

/// Downloads that wait for room, first come, first served, and never for themselves.
@Suite("State: waiting for room", .timeLimit(.minutes(5)))
struct RoomLineScriptTests {
    let script = StateScript(bytes: 10 * block)

    @Test func newcomersWaitWhileOthersHoldAllRoom() {
        #expect(script.begins("a", 7 * block) == ["granted 28672"])
        #expect(script.begins("b", 3 * block) == ["wait"])
        // It would fit, but it is not its turn.
        #expect(script.begins("c", block) == ["wait"])
        #expect(script.asks("c", for: 1, of: block) == ["wait"])
        _ = script.finishes("a")
        #expect(script.published("a", Sample.facts(allocated: 2 * block)) == ["resume b"])
        #expect(script.asks("b", for: 1, of: 3 * block) == ["granted 12288", "resume c"])
        #expect(script.asks("c", for: 1, of: block) == ["granted 4096"])
    }

    @Test func whatIsMoreUrgentHasRoomFirst() {
        _ = script.begins("a", 7 * block)
        #expect(script.begins("b", 4 * block) == ["wait"])
        script.caller("reader", wants: "c", "d", priority: .visible)
        // It fits beside what is under way.
        #expect(script.asks("c", for: 1, of: block) == ["granted 4096", "resume b"])
        // This one does not, and is in front of the one that was there before.
        #expect(script.asks("d", for: 1, of: 4 * block) == ["wait"])
        _ = script.finishes("a")
        #expect(script.published("a", Sample.facts(allocated: 2 * block)) == ["resume d"])
        #expect(script.asks("b", for: 1, of: 4 * block) == ["wait"])
        #expect(script.asks("d", for: 1, of: 4 * block).contains("granted 16384"))
    }

    @Test func whoeverEndsLetsTheFirstInLineAskAgain() {
        _ = script.begins("b", 7 * block)
        script.caller("c", wants: "c")
        #expect(script.asks("c", for: 1, of: 3 * block) == ["wait"])
        #expect(script.finishes("b", failing: .http(500)) == ["resume c"])
        // What it left behind is on the books, as far as anybody knows.
        #expect(script.state.bytesUsed == block)

        let reader = script.caller("a", wants: "a")
        #expect(script.asks("c", for: 1, of: 3 * block) == ["granted 12288"])
        #expect(script.asks("a", for: 1, of: 7 * block) == ["wait"])
        _ = script.begins("d", block)
        #expect(script.leaves(reader) == ["cancel a", "resume d"])
        #expect(script.removes("c") == ["cancel c and discard", "tell c: c removed", "resume d"])
    }

    @Test func whoHoldsRoomGoesFirst() {
        let script = StateScript(bytes: 140 * block)
        _ = script.want("a", by: nil)
        _ = script.want("b", by: nil)
        #expect(script.asks("a", for: 1) == ["granted 262144"])
        #expect(script.asks("b", for: 1) == ["granted 262144"])
        #expect(script.begins("c", 30 * block) == ["wait"])
        #expect(script.asks("a", for: Budget.step + 1) == ["wait"])
        _ = script.finishes("b")
        #expect(script.published("b") == ["resume a"])
        #expect(script.asks("c", for: 1, of: 30 * block) == ["wait"])
        #expect(
            script.asks("a", for: Budget.step + 1) == ["granted 524288", "resume c"])
    }

    /// Only its end gives room to others, however urgent they are.
    @Test func whatIsMoreUrgentWaitsForWhoHasRoomAndNeedsMore() {
        let script = StateScript(bytes: 140 * block)
        for image in ["a", "b"] {
            _ = script.want(image, by: nil)
            #expect(script.asks(image, for: 1) == ["granted 262144"])
        }
        #expect(script.asks("a", for: Budget.step + 1) == ["wait"])
        script.caller("reader", wants: "c", priority: .visible)
        #expect(script.asks("c", for: 1, of: block) == ["wait"])
    }

    @Test func oneOfSeveralThatAllWaitForAnotherStartsOver() {
        let script = StateScript(bytes: 200 * block)
        for image in ["a", "b", "c"] {
            _ = script.want(image, by: nil)
            #expect(script.asks(image, for: 1) == ["granted 262144"])
            _ = script.progresses(image, received: Budget.step, total: nil)
        }
        let first = script.flight("c")
        let more = Budget.step + 6 * block
        #expect(script.asks("a", for: more) == ["wait"])
        #expect(script.asks("b", for: more) == ["wait"])
        #expect(
            script.asks("c", for: more) == ["refused: noRoom", "unlink partial c", "resume b"])
        #expect(script.phase("c") == .queued)
        #expect(script.finishes("c", first, failing: script.refusal) == ["start c"])
        #expect(script.asks("b", for: more) == ["wait"])
        #expect(script.loses("partial c") == ["resume b"])
        #expect(script.asks("b", for: more) == ["granted 524288", "resume a"])
        #expect(script.asks("a", for: more) == ["wait"])
        #expect(script.asks("c", for: 1) == ["wait"])
        _ = script.finishes("b")
        #expect(
            script.published("b", Sample.facts(allocated: 100 * block)) == ["resume a"])
        #expect(script.asks("a", for: more).prefix(2) == ["granted 524288", "without b"])
        _ = script.loses("b")
        // It gets none beside others.
        #expect(script.asks("c", for: 1) == ["wait"])
        _ = script.finishes("a")
        #expect(script.published("a", Sample.facts(allocated: 60 * block)).contains("resume c"))
        #expect(script.asks("c", for: 1).first == "granted 262144")
        // Nor does anybody beside it, as long as it has room.
        #expect(script.begins("d", block) == ["wait"])
        _ = script.finishes("c")
        #expect(script.published("c").contains("resume d"))
        #expect(script.asks("d", for: 1, of: block).contains("granted 4096"))
    }

    @Test func aDownloadAloneDoesNotWaitForItself() {
        let script = StateScript(bytes: 100 * block)
        script.has("a", allocated: 60 * block)
        _ = script.pins("a")
        _ = script.want("b", by: nil)
        #expect(script.asks("b", for: 1) == ["granted 1"])
        #expect(script.asks("b", for: 40 * block) == ["refused: noRoom"])
    }

    @Test func bytesOnTheirWayOutCountUntilTheyAreGone() {
        script.has("a", allocated: 8 * block)
        #expect(script.evicts(Eviction(goal: EvictionGoal(bytes: 0))) == ["a"])
        #expect(script.state.bytesUsed == 0)
        #expect(script.state.held == 8 * block)
        #expect(script.begins("b", 2 * block) == ["wait"])
        #expect(script.loses("a") == ["resume b"])
        #expect(script.asks("b", for: 1, of: 2 * block) == ["granted 8192"])
    }

    @Test func whoStandsBehindOneThatMayAskAgainWaitsForIt() {
        script.has("a", allocated: 8 * block)
        _ = script.evicts(Eviction(goal: EvictionGoal(bytes: 0)))
        #expect(script.begins("b", 4 * block) == ["wait"])
        #expect(script.loses("a") == ["resume b"])
        #expect(script.begins("c", block) == ["wait"])
        #expect(script.asks("b", for: 1, of: 4 * block) == ["granted 16384", "resume c"])
        #expect(script.asks("c", for: 1, of: block) == ["granted 4096"])
    }

    @Test func whatWentInVainIsWaitedFor() {
        script.has("a", "b", allocated: 4 * block)
        // Of these two one is on its way itself, which is seen too late.
        _ = script.want("b", by: nil, FetchOptions(isRefresh: true))
        #expect(script.begins("c", 6 * block) == ["wait", "without a"])
        #expect(script.loses("a") == ["resume c"])
        #expect(script.asks("c", for: 1, of: 5 * block) == ["granted 20480"])
    }

    @Test func wideningTheLimitsLetsTheFirstAskAgain() {
        _ = script.begins("a", 7 * block)
        #expect(script.begins("b", 3 * block) == ["wait"])
        #expect(script.limits { $0.maximumBytes = 20 * block } == ["resume b"])
        #expect(script.asks("b", for: 1, of: 3 * block) == ["granted 12288"])
    }

    // MARK: The first scan

    @Test func untilTheDirectoryIsReadNothingGoes() {
        script.has("a", allocated: 6 * block)
        script.state.trust = .scanning
        #expect(script.begins("b", 2 * block) == ["granted 8192"])
        #expect(script.begins("c", 2 * block) == ["wait"])
        #expect(script.limits { $0.maximumBytes = 5 * block } == ["resume c"])
        #expect(script.scanFinishes())
        #expect(script.event { $0.limitsChecked() } == ["evict to 18432"])
    }
}
