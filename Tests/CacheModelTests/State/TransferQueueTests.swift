import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// The order in which downloads start, as scripts of requests.
@Suite("State: the queue", .timeLimit(.minutes(5)))
struct TransferQueueTests {
    private let script = StateScript(transferLimit: 1)

    init() {
        script.caller("first", wants: "0")
    }

    /// The downloads in the order they start, each one after the previous one fails.
    private func order(after first: String = "0") -> [String] {
        var served: [String] = []
        var running: String? = first
        while let image = running {
            let said = script.finishes(image, failing: .http(404))
            running = said.first { $0.hasPrefix("start ") }.map { String($0.dropFirst(6)) }
            if let running { served.append(running) }
        }
        #expect(
            script.state.fetching.scheduler.isQueueEmpty && script.state.fetching.downloads.isEmpty)
        return served
    }

    @Test func aClientsUrgentDownloadsStartFirstAndEqualOnesInOrder() {
        script.caller("a", wants: "a", priority: .background)
        script.caller("b", wants: "b")
        script.caller("c", wants: "c", priority: .visible)
        script.caller("d", wants: "d")
        script.caller("e", wants: "e", priority: .visible)
        #expect(order() == ["c", "e", "b", "d", "a"])
    }

    @Test func aHigherPriorityDoesNotOvertakeAnotherClient() {
        script.caller("a", wants: "a1", "a2", client: 1)
        script.caller("b", wants: "b1", "b2", priority: .visible, client: 2)
        #expect(order() == ["a1", "b1", "a2", "b2"])
    }

    @Test func clientsTakeTurns() {
        script.caller("a", wants: "a1", "a2", "a3", "a4", client: 1)
        script.caller("b", wants: "b1", "b2", client: 2)
        script.caller("c", wants: "c1", client: 3)
        #expect(order() == ["a1", "b1", "c1", "a2", "b2", "a3", "a4"])
    }

    @Test func aPrefetchCountsForTheClientThatAskedForIt() {
        for image in ["a1", "a2", "a3"] {
            _ = script.want(image, by: nil, FetchOptions(client: ClientID(rawValue: 1)))
        }
        script.caller("b", wants: "b1", client: 2)
        #expect(order() == ["a1", "b1", "a2", "a3"])
    }

    @Test func aSharedDownloadStartsAtTheEarliestTurnOfItsClients() {
        script.caller("a", wants: "a1", "a2", "a3", "shared", client: 1)
        script.caller("b", wants: "shared", "b2", client: 2)
        #expect(order() == ["a1", "shared", "a2", "b2", "a3"])
    }

    @Test func aSharedDownloadIsAsUrgentAsItsMostUrgentCaller() {
        script.caller("a", wants: "a1", "shared", "a3", client: 1)
        script.caller("looker", wants: "shared", priority: .visible, client: 1)
        #expect(order() == ["shared", "a1", "a3"])
    }

    @Test func aDownloadLosesPriorityWhenItsMostUrgentCallersLeave() {
        script.caller("a", wants: "a1", "shared", "a3", client: 1)
        let lookers = (0..<3).map { number in
            script.caller("looker", wants: "shared", priority: .visible, client: 2 + number)
        }
        for looker in lookers { #expect(script.leaves(looker) == []) }
        #expect(order() == ["a1", "shared", "a3"])
    }

    @Test func aDetachedDownloadHasAPriorityToo() {
        _ = script.want("held", by: nil, FetchOptions(priority: .background))
        script.caller("a", wants: "a", client: 1)
        let looker = script.caller("looker", wants: "held", priority: .visible, client: 2)
        #expect(script.leaves(looker) == [])
        script.caller("b", wants: "b", client: 1)
        #expect(order() == ["a", "b", "held"])
    }

    @Test func aMoreUrgentPrefetchRaisesADetachedDownload() {
        _ = script.want("held", by: nil, FetchOptions(priority: .background))
        script.caller("a", wants: "a")
        _ = script.want("held", by: nil, FetchOptions(priority: .visible))
        _ = script.want("held", by: nil, FetchOptions(priority: .background))
        #expect(order() == ["held", "a"])
    }

    @Test func aCallerThatComesAndLeavesLeavesNothingQueued() {
        script.caller("a", wants: "a", client: 1)
        for number in 0..<1000 {
            let id = script.caller(
                "looker", wants: "a", "b", priority: .visible, client: UInt64(number))
            #expect(script.leaves(id) == [])
        }
        #expect(order() == ["a"])
    }

    @Test func replacingASetKeepsCommonImagesQueued() {
        let old = script.caller("old", wants: "a", "b", "c", client: 1)
        script.caller("new", wants: "b", "c", "d", client: 1)
        let flights = ["b", "c"].map { script.flight($0) }
        #expect(script.leaves(old) == [])
        #expect(["b", "c"].map { script.flight($0) } == flights)
        #expect(order() == ["b", "c", "d"])
    }

    @Test func oneClientGetsAllSlots() {
        let script = StateScript(transferLimit: 16)
        let options = FetchOptions(client: ClientID(rawValue: 1))
        let reader = script.state.fetching.waiterBegan(options)
        for number in 0..<20 { _ = script.want("\(number)", by: reader, options) }
        #expect(script.state.fetching.scheduler.running == 16)
    }

    @Test func aClientWithoutDownloadsGetsASlotOfOneThatHasSeveral() {
        let script = StateScript(transferLimit: 2)
        script.caller("many", wants: "a1", "a2", "a3", client: 1)
        script.caller("new", wants: "b1", "b2", client: 2) { #expect($0 == ["cancel a2"]) }
        #expect(script.stops("a2") == ["start b1"])
        // Each has one now, and keeps it.
        script.caller("third", wants: "c", client: 3) { #expect($0 == []) }
        #expect(script.finishes("a1", failing: .http(404)).first == "start a3")
        #expect(script.finishes("b1", failing: .http(404)).first == "start b2")
        #expect(script.finishes("a3", failing: .http(404)).first == "start c")
        #expect(script.finishes("c", failing: .http(404)).first == "start a2")
    }

    @Test func aHundredThousandRequestsDelayAnotherClientByOneTurn() {
        var state = CacheState(FetchingState(transferLimit: 1))
        state.disk.validity = .complete
        var effects = Effects()
        func request(_ url: CacheURL, by waiter: WaiterID, _ options: FetchOptions) {
            state.fetching.requested(
                CacheKey(url), url, by: waiter, options, now: FileTime(nanoseconds: 1), &effects)
        }
        let many = FetchOptions(client: ClientID(rawValue: 1))
        let greedy = state.fetching.waiterBegan(many)
        for number in 0..<100_000 { request(Sample.url("\(number)"), by: greedy, many) }
        let one = FetchOptions(client: ClientID(rawValue: 2))
        let modest = state.fetching.waiterBegan(one)
        let url = Sample.url("one")
        request(url, by: modest, one)
        var started: [String] = []
        for number in 0..<2 {
            let key = Sample.key("\(number)")
            guard let id = state.fetching.downloads[key]?.id else { break }
            effects = Effects()
            state.transferFailed(key, id, .http(404), &effects)
            for case .startTransfer(_, _, let url, _) in effects.work { started.append(url.string) }
        }
        #expect(started == [Sample.url("1"), url].map(\.string))
        state.fetching.checkInvariants()
    }
}
