import CacheKey
import Testing

@testable import CacheCore

/// What is visible waits for the end of no prefetch.
@Suite("State: prefetches that give way", .timeLimit(.minutes(5)))
struct GivingWayScriptTests {
    @Test func aPrefetchStopsForWhatIsVisibleAndGoesOnLater() {
        let script = StateScript(transferLimit: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == ["cancel b"]) }
        #expect(script.phase("b") == .queued)
        // Its place is free once it has stopped.
        #expect(script.stops("b") == ["start x"])
        #expect(script.finishes("x") == ["start b", "publish x"])
        #expect(script.published("x") == ["tell looker"])
        #expect(script.finishes("b") == ["publish b"])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == [])
        #expect(script.published("b") == ["tell prefetcher"])
    }

    @Test func noMoreStopThanAreWaitedFor() {
        let script = StateScript(transferLimit: 4)
        script.caller("prefetcher", wants: "a", "b", "c", "d", priority: .background)
        script.caller("looker", wants: "x", "y", priority: .visible) {
            #expect($0 == ["cancel d"])
        }
        // Nothing else stops meanwhile; a place that becomes free otherwise will do, too.
        script.caller("other", wants: "z") { #expect($0 == []) }
        #expect(script.finishes("a") == ["start x", "publish a"])
        #expect(script.stops("d") == ["start y"])
        #expect(script.phase("b") == .connecting && script.phase("c") == .connecting)
    }

    @Test func theOneThatHasReceivedLeastStops() {
        let script = StateScript(transferLimit: 3)
        script.caller("prefetcher", wants: "a", "b", "c", priority: .background)
        for (image, bytes) in [("a", 5000), ("b", 100), ("c", 3000)] as [(String, Int64)] {
            _ = script.progresses(image, received: bytes, total: 1_000_000)
        }
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == ["cancel b"]) }
    }

    @Test func whatIsNearlyThroughStopsOnceNothingMoreComes() {
        let script = StateScript(transferLimit: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        for image in ["a", "b"] { _ = script.progresses(image, received: 3000, total: 10_000) }
        #expect(script.event { $0.prefetchesLookedAt() } == [])
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == []) }
        _ = script.progresses("a", received: 4000, total: 10_000)
        #expect(script.event { $0.prefetchesLookedAt() } == ["cancel b"])
        #expect(script.stops("b") == ["start x"])
    }

    @Test func whatSomebodyElseWantsNowIsNotStopped() {
        let script = StateScript(transferLimit: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        script.caller("reader", wants: "a", "b")
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == []) }
        #expect(script.finishes("a") == ["start x", "publish a"])
    }

    @Test func whatOnlyAPrefetcherWantsAnyMoreStops() {
        let script = StateScript(transferLimit: 2)
        let scrolled = script.caller("scrolled", wants: "a", priority: .visible)
        script.caller("reader", wants: "b")
        script.caller("prefetcher", wants: "a", priority: .background)
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == []) }
        #expect(script.event { $0.waiterLeft(scrolled) } == ["cancel a"])
    }

    @Test func aDownloadThatIsStoppedAnywayMakesTheRoom() {
        let script = StateScript(transferLimit: 2)
        let reader = script.caller("reader", wants: "a")
        script.caller("prefetcher", wants: "b", priority: .background)
        #expect(script.event { $0.waiterLeft(reader) } == ["cancel a"])
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == []) }
        #expect(script.stops("a") == ["start x"])
    }

    @Test func nothingStopsForWhatIsNotVisible() {
        let script = StateScript(transferLimit: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        script.caller("reader", wants: "x") { #expect($0 == []) }
    }

    @Test func aCallStopsNothingThatItWantsItself() {
        let script = StateScript(transferLimit: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        // Had it given way to x at once, b would have stopped.
        script.caller("looker", wants: "x", "b", priority: .visible) {
            #expect($0 == ["cancel a"])
        }
        #expect(script.phase("b") == .connecting)
    }

    @Test(arguments: [(984_000, 1_000_000), (1000, 17_000)] as [(Int64, Int64)])
    func whatIsNearlyThroughGoesOn(received: Int64, total: Int64) {
        let script = StateScript(transferLimit: 1)
        let scrolled = script.caller("scrolled", wants: "a", priority: .visible)
        _ = script.progresses("a", received: received, total: total)
        script.caller("looker", wants: "x", priority: .visible)
        #expect(script.event { $0.waiterLeft(scrolled) } == [])
        #expect(script.finishes("a") == ["start x", "publish a"])
    }

    @Test func whoGaveWayHasTheNextTurn() {
        let script = StateScript(transferLimit: 1)
        script.caller("prefetcher", wants: "a", "b", "c", priority: .background)
        script.caller("looker", wants: "x", priority: .visible)
        #expect(script.stops("a") == ["start x"])
        #expect(script.finishes("x", failing: .http(404)).first == "start a")
    }

    @Test func givingWayIsNoAttemptAndHasAnEnd() {
        let script = StateScript(transferLimit: 1)
        script.caller("prefetcher", wants: "a", priority: .background)
        for number in 0..<3 {
            let image = "x\(number)"
            script.caller("looker", wants: image, priority: .visible)
            #expect(script.stops("a") == ["start \(image)"])
            #expect(script.finishes(image, failing: .http(404)).first == "start a")
        }
        #expect(script.state.flights[script.key("a")]?.attempts == 1)
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == []) }
        #expect(script.finishes("a") == ["start x", "publish a"])
    }

    /// A stop elsewhere would leave a place that nobody may take.
    @Test func whereTheHostIsFullNobodyElseStops() throws {
        var state = CacheState(transferLimit: 4, hostLimit: 2)
        let visible = ["http://a/1", "http://a/2"]
        #expect(try wants(&state, visible, .visible).map(\.1) == visible)
        let prefetches = ["http://b/1", "http://c/1"]
        #expect(try wants(&state, prefetches, .background).map(\.1) == prefetches)
        #expect(try wants(&state, ["http://a/3"], .visible).isEmpty)
        #expect(try wants(&state, ["http://d/1"], .visible).map(\.1) == ["http://c/1"])
    }

    @Test func atAFullHostItsOwnPrefetchesGiveWay() throws {
        var state = CacheState(transferLimit: 64, hostLimit: 3)
        let prefetches = ["http://a/1", "http://a/2", "http://b/1"]
        var running = try wants(&state, prefetches, .background).map(\.1)
        #expect(running == prefetches)
        // The last place of the host is free, then one is made; and no other meanwhile.
        let visible = (0..<3).map { "http://a/visible\($0)" }
        let effects = try wants(&state, visible, .visible)
        #expect(effects.map(\.0) == ["start", "cancel"])
        #expect(effects.map(\.1) == ["http://a/visible0", "http://a/2"])
        // One after the other.
        let next = try stops(&state, "http://a/2", effects[1].2)
        #expect(next.map(\.1) == ["http://a/visible1", "http://a/1"])
        let last = try stops(&state, "http://a/1", next[1].2)
        #expect(last.map(\.1) == ["http://a/visible2"])
        // They go on where no visible one is in their way, the one that stopped last before the other.
        #expect(try stops(&state, "http://a/visible2", last[0].2).isEmpty)
        running = try stops(&state, "http://a/visible1", next[0].2).map(\.1)
        #expect(running == ["http://a/1"])
    }

    private func wants(
        _ state: inout CacheState, _ urls: [String], _ priority: Priority
    ) throws -> [(String, String, FlightID)] {
        _ = state.holdsAsked(urls.count)
        let wanted = try urls.flatMap { text in
            let url = try CacheURL(text)
            let effects = state.wanted(
                CacheKey(url), url, by: nil, FetchOptions(priority: priority),
                now: FileTime(nanoseconds: 1_790_000_000))
            state.checkInvariants()
            return transfers(effects, among: state)
        }
        return wanted + transfers(state.holdsNamed(urls.count), among: state)
    }

    private func stops(
        _ state: inout CacheState, _ text: String, _ id: FlightID
    ) throws -> [(String, String, FlightID)] {
        let effects = state.transferFinished(
            CacheKey(try CacheURL(text)), id, .failure(.http(404)))
        state.checkInvariants()
        return transfers(effects, among: state)
    }

    private func transfers(
        _ effects: [Effect], among state: borrowing CacheState
    ) -> [(String, String, FlightID)] {
        effects.compactMap { effect in
            switch effect {
            case .startTransfer(let id, _, let url, _): ("start", url.string, id)
            case .cancelTransfer(let id, let key, _):
                ("cancel", state.flights[key]?.url.string ?? "", id)
            default: nil
            }
        }
    }
}
