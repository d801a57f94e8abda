import CacheKey
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Downloads that are resumed, nearly complete or forgotten, as scripts of events.
@Suite("State: resuming", .timeLimit(.minutes(5)))
struct ResumingScriptTests {
    let script = StateScript()

    @Test func showsPartialBytesBeforeTheOriginAnswers() {
        script.state.fetching.changes.isObserved = true
        script.caller("reader", wants: "a")
        _ = script.takesChanges()
        #expect(begins("a", with: 600, of: 1000) == ["announce"])
        #expect(
            script.lookup("a") == .inFlight(.init(phase: .connecting, received: 600, total: 1000)))
        _ = script.progresses("a", received: 700, total: 1000)
        #expect(script.state.fetching.counters.bytesReceived == 100)
    }

    @Test func aDownloadThatStartsOverReportsZeroBytes() {
        script.caller("reader", wants: "a")
        _ = begins("a", with: 600, of: 1000)
        _ = begins("a", with: 0, of: nil)
        #expect(
            script.lookup("a") == .inFlight(.init(phase: .connecting, received: 0, total: nil)))
        _ = script.progresses("a", received: 50, total: 900)
        #expect(script.state.fetching.counters.bytesReceived == 50)
    }

    @Test func dropsLateProgressOfAnEarlierDownload() {
        script.caller("reader", wants: "a")
        let old = script.flight("a")
        _ = script.removes("a")
        script.caller("reader", wants: "a")
        let said = script.event { [key = script.key("a")] state, effects in
            state.fetching.transferBegan(key, old, with: 600, of: 1000, &effects)
        }
        #expect(said == [])
        #expect(
            script.lookup("a") == .inFlight(.init(phase: .connecting, received: 0, total: nil)))
    }

    @Test func theReservationAbsorbsThePartial() {
        script.state.disk.space.budget.maximumBytes = Budget.allocation(for: 100_000)
        script.state.disk.partialProbed(script.key("a"), 61_440)
        #expect(script.state.disk.bytesHeld == 61_440)
        script.caller("reader", wants: "a")
        _ = begins("a", with: 60_000, of: 100_000)
        #expect(asksForRoom("a", needed: 60_001, length: 100_000) == 100_000)
        #expect(script.state.disk.bytesHeld == Budget.allocation(for: 100_000))
        #expect(script.state.disk.space.written == 60_000)
        _ = script.progresses("a", received: 70_000, total: 100_000)
        #expect(script.state.disk.space.written == 70_000)
        // The bytes written stay as a partial of that size.
        _ = script.finishes("a", failing: Failure(.truncated, "cut"))
        #expect(script.state.disk.bytesHeld == Budget.allocation(for: 70_000))
    }

    @Test func evictsAPartialAboutToBeResumedLast() {
        script.state.disk.space.budget.maximumBytes = Budget.allocation(for: 100_000)
        script.state.disk.partialProbed(script.key("a"), 40_960)
        script.state.disk.partialProbed(script.key("c"), 40_960)
        script.caller("reader", wants: "a", "b")
        _ = begins("a", with: 40_000, of: 80_000)
        #expect(
            script.asks("b", for: 1, of: 60_000).prefix(2) == [
                "granted 60000", "without partial c",
            ])
        _ = script.loses("partial c")
        #expect(
            script.asks("b", for: 60_001, of: 90_000).prefix(2) == [
                "granted 90000", "without partial a",
            ])
    }

    @Test func keepsAPartialAboutToBeResumedIfItsEvictionWouldNotHelp() {
        script.state.disk.space.budget.maximumBytes = Budget.allocation(for: 100_000)
        script.state.disk.partialProbed(script.key("a"), 40_960)
        script.caller("reader", wants: "a", "b", "c")
        _ = begins("a", with: 40_000, of: 80_000)
        #expect(script.asks("c", for: 1, of: 40_000) == ["granted 40000"])
        #expect(script.asks("b", for: 1, of: 90_000) == ["wait"])
        #expect(script.state.disk.space.partials[script.key("a")] == 40_960)
    }

    // MARK: Downloads without waiters

    @Test(arguments: [(950_000, 1_000_000), (1, 16 * 1024), (84_000, 100_000)])
    func finishesANearlyCompleteDownloadWithoutWaiters(received: Int64, total: Int64) {
        let caller = script.caller("reader", wants: "a")
        _ = script.progresses("a", received: received, total: total)
        #expect(script.leaves(caller) == [])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == [])
        #expect(script.holds("a"))
    }

    @Test(arguments: [(949_999, 1_000_000), (0, 16 * 1024), (1_000_000, nil)])
    func stopsAnIncompleteDownloadWithoutWaiters(received: Int64, total: Int64?) {
        let caller = script.caller("reader", wants: "a")
        _ = script.progresses("a", received: received, total: total)
        #expect(script.leaves(caller) == ["cancel a"])
    }

    @Test func aNearlyCompleteDownloadServesLaterCallers() {
        let caller = script.caller("reader", wants: "a")
        _ = script.progresses("a", received: 99, total: 100)
        _ = script.leaves(caller)
        script.caller("later", wants: "a") { #expect($0 == []) }
        _ = script.finishes("a")
        #expect(script.published("a") == ["tell later"])
    }

    // MARK: Old partials

    @Test func removesAnOldPartialUnlessItsImageIsRequested() {
        let key = script.key("a")
        script.state.disk.partialProbed(key, 4096)
        #expect(script.state.fetching.restingPartials == [key])
        #expect(script.event { $0.fetching.partialExpired(key, &$1) } == ["discard a"])
        script.state.disk.partialProbed(key, 4096)
        script.caller("reader", wants: "a")
        #expect(script.state.fetching.restingPartials == [])
        #expect(script.event { $0.fetching.partialExpired(key, &$1) } == [])
    }

    // MARK: Events

    private func begins(_ image: String, with received: Int64, of total: Int64?) -> [String] {
        script.event { [key = script.key(image), id = script.flight(image)] state, effects in
            state.fetching.transferBegan(key, id, with: received, of: total, &effects)
        }
    }

    /// The number of bytes that the download may grow to; `nil` if the state refuses.
    private func asksForRoom(_ image: String, needed: Int64, length: Int64) -> Int64? {
        let (key, id) = (script.key(image), script.flight(image))
        let (answer, _) = script.state.run {
            $0.fetching.spaceRequested(key, id, needed: needed, length: length, &$1)
        }
        guard case .granted(let bytes) = answer.grant, answer.victims.isEmpty else { return nil }
        return bytes
    }
}
