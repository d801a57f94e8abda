import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

private let block: Int64 = 4096

/// Downloads that wait for space return to the queue, and hold no reservation while they wait.
@Suite("State: waiting for space", .timeLimit(.minutes(5)))
struct WaitingForSpaceScriptTests {
    let script: StateScript

    init() { self.init(bytes: 10 * block) }

    private init(bytes: Int64) { script = StateScript(bytes: bytes) }

    /// A download asks for space that others have reserved, and its transfer ends.
    private func waits(_ image: String, for needed: Int64 = 1, of length: Int64? = nil) {
        let id = script.flight(image)
        #expect(script.asks(image, for: needed, of: length) == ["wait"])
        #expect(script.phase(image) == .queued)
        #expect(script.finishes(image, id, failing: script.refusal) == [])
    }

    @Test func aDownloadRestartsOnceTheOthersEnd() {
        #expect(script.begins("a", 7 * block) == ["granted 28672"])
        #expect(script.want("b", by: nil) == ["start b"])
        waits("b", of: 3 * block)
        // The next download would be refused for the same reason.
        #expect(script.want("c", by: nil) == [])
        _ = script.finishes("a")
        let said = script.published("a", Sample.facts(allocated: 2 * block))
        #expect(said == ["start b"])
        #expect(script.asks("b", for: 1, of: 3 * block) == ["granted 12288", "start c"])
        #expect(script.asks("c", for: 1, of: block) == ["granted 4096"])
    }

    @Test func startsOneWaitingDownloadForEachReleaseAndGrant() {
        let test = Self(bytes: 20 * block)
        let script = test.script
        #expect(script.begins("a", 9 * block) == ["granted 36864"])
        #expect(script.begins("b", 7 * block) == ["granted 28672"])
        _ = script.want("c", by: nil)
        test.waits("c", of: 3 * block)
        for image in ["d", "e"] { #expect(script.want(image, by: nil) == []) }
        #expect(script.finishes("b", failing: .http(500)) == ["start c"])
        #expect(script.asks("c", for: 1, of: 3 * block).contains("start d"))
        #expect(script.phase("e") == .queued)
    }

    /// The received bytes stay as a partial, unless the others need that space too.
    @Test func aGrowingDownloadReleasesItsReservation() {
        let test = Self(bytes: 140 * block)
        let script = test.script
        for image in ["a", "b"] {
            _ = script.want(image, by: nil)
            #expect(script.asks(image, for: 1) == ["granted 262144"])
            _ = script.progresses(image, received: Budget.step, total: nil)
        }
        test.waits("a", for: Budget.step + 1)
        #expect(script.state.disk.space.reserved == 65 * block)
        #expect(script.state.disk.bytesUsed == 65 * block)
        let said = script.asks("b", for: Budget.step + 1)
        #expect(said.prefix(2) == ["granted 524288", "without partial a"])
        // It could not have all that it needs beside this one.
        #expect(script.phase("a") == .queued)
        #expect(script.finishes("b", failing: .http(500)) == ["start a"])
    }

    /// What has arrived and is not written yet is written to the partial, so it takes space from now on.
    @Test func bytesOnTheirWayToThePartialCount() {
        let test = Self(bytes: 140 * block)
        for image in ["a", "b"] {
            _ = test.script.want(image, by: nil)
            #expect(test.script.asks(image, for: 1) == ["granted 262144"])
        }
        test.waits("a", for: Budget.step + 1)
        #expect(test.script.state.disk.bytesUsed == 65 * block)
    }

    @Test func aDownloadAloneDoesNotWaitForItself() {
        let script = StateScript(bytes: 100 * block)
        _ = script.want("b", by: nil)
        #expect(script.asks("b", for: 1) == ["granted 262144"])
        #expect(script.asks("b", for: Budget.step + 1) == ["refused: noRoom"])
    }

    @Test func aDownloadThatLosesItsCallersLetsTheNextStart() {
        _ = script.begins("a", 7 * block)
        let reader = script.caller("reader", wants: "b")
        waits("b", of: 3 * block)
        _ = script.want("c", by: nil)
        #expect(script.leaves(reader) == ["start c"])
    }

    @Test func bytesPendingRemovalCountUntilTheyAreGone() {
        script.has("a", allocated: 8 * block)
        #expect(script.evicts(EvictionGoal(bytes: 0)) == ["a"])
        #expect(script.state.disk.bytesUsed == 0)
        #expect(script.state.disk.bytesHeld == 8 * block)
        _ = script.want("b", by: nil)
        waits("b", of: 2 * block)
        #expect(script.loses("a") == ["start b"])
        #expect(script.asks("b", for: 1, of: 2 * block) == ["granted 8192"])
    }

    @Test func waitsIfEvictionFreesTooLittle() {
        script.has("a", "b", allocated: 4 * block)
        // Entry b is being refreshed and so can't be evicted, which the search finds out too late.
        _ = script.want("b", by: nil, FetchOptions(isRefresh: true))
        _ = script.want("c", by: nil)
        #expect(script.asks("c", for: 1, of: 6 * block) == ["wait", "without a"])
        #expect(script.loses("a") == ["start c"])
        #expect(script.asks("c", for: 1, of: 5 * block) == ["granted 20480"])
    }

    @Test func wideningTheLimitsLetsTheNextStart() {
        _ = script.begins("a", 7 * block)
        _ = script.want("b", by: nil)
        waits("b", of: 3 * block)
        #expect(script.limits { $0.maximumBytes = 20 * block } == ["start b"])
        #expect(script.asks("b", for: 1, of: 3 * block) == ["granted 12288"])
    }

    // MARK: The first scan

    @Test func evictsNothingUntilTheScanCompletes() {
        script.has("a", allocated: 6 * block)
        script.state.disk.validity = .loading
        #expect(script.begins("b", 2 * block) == ["granted 8192"])
        _ = script.want("c", by: nil)
        waits("c", of: 2 * block)
        #expect(script.limits { $0.maximumBytes = 5 * block } == ["start c"])
        #expect(script.scanFinishes())
        #expect(script.event { $0.fetching.limitsChecked(&$1) } == ["evict to 18432"])
    }
}
