import CacheKey
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Prefetches stop for everything else.
@Suite("State: preemption", .timeLimit(.minutes(5)))
struct PreemptionScriptTests {
    private func script(slots: Int) -> StateScript { StateScript(transferLimit: slots) }

    @Test func aVisibleImagePreemptsAPrefetchThatContinuesLater() {
        let script = script(slots: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == ["cancel b"]) }
        #expect(script.phase("b") == .queued)
        // The slot is free only once the prefetch has stopped.
        #expect(script.stops("b") == ["start x"])
        #expect(script.finishes("x") == ["start b", "publish x"])
        #expect(script.published("x") == ["tell looker"])
        #expect(script.finishes("b") == ["publish b"])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == [])
        #expect(script.published("b") == ["tell prefetcher"])
    }

    @Test func preemptsNoMorePrefetchesThanAreNeeded() {
        let script = script(slots: 4)
        script.caller("prefetcher", wants: "a", "b", "c", "d", priority: .background)
        script.caller("looker", wants: "x", "y", priority: .visible) {
            #expect($0 == ["cancel d"])
        }
        // No other prefetch stops until then. A slot that another download frees serves as well.
        #expect(script.finishes("a") == ["start x", "publish a"])
        #expect(script.stops("d") == ["start y"])
        #expect(script.phase("b") == .connecting && script.phase("c") == .connecting)
    }

    @Test func preemptsThePrefetchWithTheFewestBytes() {
        let script = script(slots: 3)
        script.caller("prefetcher", wants: "a", "b", "c", priority: .background)
        for (image, bytes) in [("a", 5000), ("b", 100), ("c", 3000)] as [(String, Int64)] {
            _ = script.progresses(image, received: bytes, total: 1_000_000)
        }
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == ["cancel b"]) }
    }

    @Test func keepsAPrefetchThatAnotherCallerWantsNow() {
        let script = script(slots: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        script.caller("reader", wants: "a", "b")
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == []) }
        #expect(script.finishes("a") == ["start x", "publish a"])
    }

    @Test func preemptsADownloadThatOnlyAPrefetcherStillWants() {
        let script = script(slots: 2)
        let scrolled = script.caller("scrolled", wants: "a", priority: .visible)
        script.caller("reader", wants: "b")
        script.caller("prefetcher", wants: "a", priority: .background)
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == []) }
        #expect(script.event { $0.fetching.waiterLeft(scrolled, &$1) } == ["cancel a"])
    }

    @Test func aDownloadAlreadyStoppingFreesTheSlot() {
        let script = script(slots: 2)
        let reader = script.caller("reader", wants: "a")
        script.caller("prefetcher", wants: "b", priority: .background)
        #expect(script.event { $0.fetching.waiterLeft(reader, &$1) } == ["cancel a"])
        script.caller("looker", wants: "x", priority: .visible) { #expect($0 == []) }
        #expect(script.stops("a") == ["start x"])
    }

    @Test func prefetchesDoNotStopForPrefetches() {
        let script = script(slots: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        script.caller("other", wants: "x", priority: .background, client: 1) { #expect($0 == []) }
        script.caller("reader", wants: "y") { #expect($0 == ["cancel b"]) }
    }

    @Test func aCallNeverPreemptsADownloadItWants() {
        let script = script(slots: 2)
        script.caller("prefetcher", wants: "a", "b", priority: .background)
        // If x preempted as soon as it was named, b would stop.
        script.caller("looker", wants: "x", "b", priority: .visible) {
            #expect($0 == ["cancel a"])
        }
        #expect(script.phase("b") == .connecting)
    }

    @Test func aPreemptedPrefetchStartsNext() {
        let script = StateScript(transferLimit: 1)
        script.caller("prefetcher", wants: "a", "b", "c", priority: .background)
        script.caller("looker", wants: "x", priority: .visible)
        #expect(script.stops("a") == ["start x"])
        #expect(script.finishes("x", failing: .http(404)).first == "start a")
    }

    @Test func preemptionDoesNotCountAsAnAttempt() {
        let script = StateScript(transferLimit: 1)
        script.caller("prefetcher", wants: "a", priority: .background)
        for number in 0..<5 {
            let image = "x\(number)"
            script.caller("looker", wants: image, priority: .visible)
            #expect(script.stops("a") == ["start \(image)"])
            #expect(script.finishes(image, failing: .http(404)).first == "start a")
        }
        #expect(script.state.fetching.downloads[script.key("a")]?.attempts == 1)
        #expect(script.finishes("a") == ["publish a"])
    }

    /// A prefetch that stops at another origin would free a slot that no waiting download can use.
    @Test func aFullOriginPreemptsNothingElsewhere() throws {
        var state = CacheState(FetchingState(transferLimit: 4, originLimit: 2))
        let visible = ["http://a/1", "http://a/2"]
        #expect(try wants(&state, visible, .visible).map(\.1) == visible)
        let prefetches = ["http://b/1", "http://c/1"]
        #expect(try wants(&state, prefetches, .background).map(\.1) == prefetches)
        #expect(try wants(&state, ["http://a/3"], .visible).isEmpty)
        #expect(try wants(&state, ["http://d/1"], .visible).map(\.1) == ["http://c/1"])
    }

    @Test func aFullOriginPreemptsItsOwnPrefetches() throws {
        var state = CacheState(FetchingState(transferLimit: 64, originLimit: 2))
        let prefetches = ["http://a/1", "http://a/2", "http://b/1"]
        #expect(try wants(&state, prefetches, .background).map(\.1) == prefetches)
        let visible = (0..<3).map { "http://a/visible\($0)" }
        // One prefetch stops after the other.
        let first = try wants(&state, visible, .visible)
        #expect(first.map(\.0) == ["cancel"] && first.map(\.1) == ["http://a/2"])
        let second = try stops(&state, "http://a/2", first[0].2)
        #expect(second.map(\.0) == ["start", "cancel"])
        #expect(second.map(\.1) == ["http://a/visible0", "http://a/1"])
        let third = try stops(&state, "http://a/1", second[1].2)
        #expect(third.map(\.1) == ["http://a/visible1"])
        let fourth = try stops(&state, "http://a/visible1", third[0].2)
        #expect(fourth.map(\.1) == ["http://a/visible2"])
        // The prefetches continue once nothing else waits, most recently stopped first.
        let fifth = try stops(&state, "http://a/visible2", fourth[0].2)
        #expect(fifth.map(\.1) == ["http://a/1"])
        #expect(try stops(&state, "http://a/visible0", second[0].2).map(\.1) == ["http://a/2"])
    }

    private func wants(
        _ state: inout CacheState, _ urls: [String], _ priority: Priority
    ) throws -> [(String, String, FlightID)] {
        _ = state.fetching.detachedAnnounced(urls.count)
        let wanted = try urls.flatMap { text in
            let url = try CacheURL(text)
            let (_, work) = state.run {
                $0.fetching.requested(
                    CacheKey(url), url, by: nil, FetchOptions(priority: priority),
                    now: FileTime(nanoseconds: 1_790_000_000), &$1)
            }
            return transfers(work, among: state)
        }
        let (_, work) = state.run { $0.fetching.detachedNamed(urls.count, &$1) }
        return wanted + transfers(work, among: state)
    }

    private func stops(
        _ state: inout CacheState, _ text: String, _ id: FlightID
    ) throws -> [(String, String, FlightID)] {
        let key = CacheKey(try CacheURL(text))
        let (_, work) = state.run { $0.transferFailed(key, id, .http(404), &$1) }
        return transfers(work, among: state)
    }

    private func transfers(
        _ work: [Work], among state: borrowing CacheState
    ) -> [(String, String, FlightID)] {
        work.compactMap { work in
            switch work {
            case .startTransfer(let id, _, let url, _): ("start", url.string, id)
            case .cancelTransfer(let id, let key, _):
                ("cancel", state.fetching.downloads[key]?.url.string ?? "", id)
            default: nil
            }
        }
    }
}
