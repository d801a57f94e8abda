import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Callers that arrive and leave, as scripts of events and decisions.
@Suite("State: waiters", .timeLimit(.minutes(5)))
struct WaiterScriptTests {
    let script = StateScript()

    @Test func stopsTheDownloadWhenTheLastWaiterLeaves() {
        let one = script.caller("one", wants: "a")
        let two = script.caller("two", wants: "a")
        #expect(script.leaves(one) == [])
        #expect(script.phase("a") == .connecting)
        #expect(script.leaves(two) == ["cancel a"])
        #expect(script.lookup("a") == .missing(nil))
        // The slot is free only once the transfer has ended.
        #expect(script.state.fetching.scheduler.running == 1)
    }

    @Test func aLeavingWaiterDoesNotDisturbOthers() {
        let leaver = script.caller("leaver", wants: "a", "b")
        script.caller("stayer", wants: "a")
        #expect(script.leaves(leaver) == ["cancel b"])
        _ = script.finishes("a")
        #expect(script.published("a") == ["tell stayer"])
    }

    @Test func aDetachedDownloadContinuesWithoutWaiters() {
        #expect(script.want("a", by: nil) == ["start a"])
        let caller = script.caller("caller", wants: "a")
        #expect(script.leaves(caller) == [])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == [])
        #expect(script.holds("a"))
    }

    @Test func detachesNoMoreDownloadsThanAllowed() {
        let script = StateScript(transferLimit: 1, detachedLimit: 3)
        #expect(!script.announces(4))
        #expect(script.announces(2))
        // Two concurrent calls share one quota.
        #expect(!script.announces(2))
        for image in ["a", "b"] { _ = script.want(image, by: nil) }
        #expect(script.event { $0.fetching.detachedNamed(2, &$1) } == [])
        #expect(!script.announces(2))
        #expect(script.announces(1))
        // The download was detached already.
        _ = script.want("a", by: nil, FetchOptions(priority: .visible))
        #expect(script.event { $0.fetching.detachedNamed(1, &$1) } == [])
        _ = script.finishes("a")
        _ = script.published("a")
        #expect(script.announces(2))
        #expect(script.event { $0.fetching.detachedNamed(2, &$1) } == [])
        #expect(script.removes("b") == ["cancel b and discard"])
        #expect(script.announces(3))
    }

    @Test func aWaitingCallerUsesNoDetachedQuota() {
        let script = StateScript(detachedLimit: 1)
        let caller = script.caller("caller", wants: "a", "b", "c")
        #expect(script.announces(1))
        #expect(script.event { $0.fetching.detachedNamed(1, &$1) } == [])
        _ = script.want("a", by: nil)
        #expect(!script.announces(1))
        #expect(script.leaves(caller).count == 2)
        #expect(!script.announces(1))
    }

    @Test func leavingTwiceHasNoFurtherEffect() {
        let one = script.caller("one", wants: "a")
        #expect(script.leaves(one) == ["cancel a"])
        #expect(script.leaves(one) == [])
    }

    @Test func leavingAQueuedDownloadStartsNothing() {
        let script = StateScript(transferLimit: 1)
        script.caller("runner", wants: "a")
        let waiter = script.caller("waiter", wants: "b")
        #expect(script.leaves(waiter) == [])
        #expect(script.lookup("b") == .missing(nil))
        #expect(script.finishes("a", failing: .http(404)) == ["tell runner: a http"])
    }

    @Test func publicationContinuesAfterAllWaitersLeave() {
        let one = script.caller("one", wants: "a")
        _ = script.finishes("a")
        #expect(script.leaves(one) == [])
        #expect(script.published("a") == [])
        #expect(script.holds("a"))
    }

    @Test func lateEventsOfACancelledDownloadOnlyFreeItsSlot() {
        let script = StateScript(transferLimit: 1)
        let one = script.caller("one", wants: "a")
        let cancelled = script.flight("a")
        #expect(script.leaves(one) == ["cancel a"])
        script.caller("two", wants: "a") { #expect($0 == []) }
        let current = script.flight("a")
        #expect(cancelled != current)
        let key = script.key("a")
        let late = script.event {
            $0.fetching.transferProgressed(key, cancelled, received: 9, total: 10, &$1)
        }
        #expect(late == [])
        #expect(script.lookup("a") == .inFlight(.init(phase: .queued, received: 0, total: nil)))
        // The download completed before the cancellation reached it. It is not published, and the
        // next one starts.
        #expect(script.finishes("a", cancelled) == ["start a"])
        #expect(script.state.fetching.scheduler.running == 1)
        #expect(script.finishes("a", current) == ["publish a"])
        #expect(script.published("a") == ["tell two"])
    }
}
