import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Events that count as uses, when files get their access times, and pins that outlive a version.
@Suite("State: access times and pins", .timeLimit(.minutes(5)))
struct AccessTimeScriptTests {
    let script = StateScript()

    private func taken(limit: Int = .max) -> [CacheKey] {
        script.state.disk.takeAccessTimes(limit: limit).sorted { $0.time < $1.time }.map(\.key)
    }

    @Test func hitsAndOpeningsCountAsUses() {
        for image in ["a", "b", "c"] { script.has(image) }
        script.caller("reader", wants: "a")
        _ = script.changes(.opened(script.key("b")))
        #expect(script.order == ["b", "a", "c"].map(script.key))
        _ = script.lookup("c")
        _ = script.looksAt("c", .entry(Sample.facts()))
        #expect(script.order == ["b", "a", "c"].map(script.key))
        _ = script.changes(.opened(script.key("nothing")))
    }

    @Test func openingsByTheCacheDoNotCountAsUses() {
        for image in ["a", "b"] { script.has(image) }
        script.state.disk.accessTimes.openingItself(script.key("a"))
        script.state.disk.accessTimes.openingItself(script.key("a"))
        _ = script.changes(.opened(script.key("a")))
        _ = script.changes(.opened(script.key("a")))
        #expect(script.order == ["b", "a"].map(script.key))
        _ = script.changes(.opened(script.key("a")))
        #expect(script.order == ["a", "b"].map(script.key))
        // An opening that failed is not reported.
        script.state.disk.accessTimes.openingItself(script.key("b"))
        script.state.disk.accessTimes.didNotOpen(script.key("b"))
        _ = script.changes(.opened(script.key("b")))
        #expect(script.order == ["b", "a"].map(script.key))
    }

    @Test func anOverflowForgetsUnreportedOpenings() {
        for image in ["a", "b"] { script.has(image) }
        script.state.disk.accessTimes.openingItself(script.key("a"))
        _ = script.changes(.overflowed)
        _ = script.changes(.opened(script.key("a")))
        #expect(script.order == ["a", "b"].map(script.key))
    }

    @Test func flushesEachEntryOnceWithItsLatestTime() {
        for image in ["a", "b", "c"] { script.has(image) }
        _ = taken()
        script.caller("reader", wants: "a")
        script.caller("reader", wants: "b")
        script.caller("reader", wants: "a")
        #expect(taken() == ["b", "a"].map(script.key))
        #expect(taken() == [])
        script.caller("reader", wants: "c")
        _ = script.removes("c")
        #expect(taken() == [])
    }

    @Test func flushesUsesInBatches() {
        for number in 0..<10 { script.has("\(number)") }
        _ = taken()
        for number in 0..<10 { script.caller("reader", wants: "\(number)") }
        #expect(taken(limit: 4).count == 4)
        #expect(taken(limit: 4).count == 4)
        #expect(taken(limit: 4).count == 2)
    }

    @Test func everyUseIsLaterThanThePreviousOne() {
        for image in ["a", "b", "c"] { script.has(image) }
        _ = taken()
        // The clock stops, then goes back.
        _ = script.want("b", by: nil, now: 1_790_000_200)
        _ = script.want("a", by: nil, now: 1_790_000_200)
        _ = script.want("c", by: nil, now: 1_790_000_000)
        let times = script.state.disk.takeAccessTimes(limit: .max).sorted { $0.time < $1.time }
        #expect(times.map(\.key) == ["b", "a", "c"].map(script.key))
        #expect(Set(times.map(\.time)).count == 3)
    }

    @Test func aPublicationIsAUseAtTheTimeOfItsFile() {
        script.has("a", Sample.facts(lastUsedAt: 1_790_000_100))
        #expect(taken() == [])
        // The image is published before the latest use and reported after it. Index and files must
        // agree on the order.
        script.has("b", Sample.facts(lastUsedAt: 1_790_000_050))
        #expect(script.order == ["b", "a"].map(script.key))
        #expect(taken() == [script.key("b")])
    }

    @Test func flushesAgainAfterAReplacementDuringTheFlush() {
        // flush:    takes K's time, to be written into its file
        // publish:  replaces K's file; the new file's time is later
        // flush:    writes the earlier time into the new file   → its order of use would be wrong
        script.has("a")
        script.caller("reader", wants: "a")
        _ = script.want("a", by: nil, FetchOptions(isRefresh: true))
        #expect(taken() == [script.key("a")])
        _ = script.finishes("a")
        _ = script.published("a", Sample.facts(lastUsedAt: 1_790_000_900))
        script.state.disk.accessTimes.flushed([script.key("a")])
        #expect(taken() == [script.key("a")])
        script.state.disk.accessTimes.flushed([script.key("a")])
        #expect(taken() == [])
    }

    // MARK: Pins

    @Test func aPinOutlivesTheVersionThatWasPinned() {
        script.has("a")
        _ = script.pins("a")
        _ = script.want("a", by: nil, FetchOptions(isRefresh: true))
        _ = script.finishes("a")
        // The cache asks for the pin before it renames the file.
        #expect(script.pinsOnArrival("a"))
        _ = script.published("a", Sample.facts(isPinned: true))
        #expect(script.state.disk.index.pinned.entries == 1)
    }

    @Test func pinsADownloadWhenItIsPublished() {
        _ = script.want("a", by: nil)
        #expect(!script.pinsOnArrival("a"))
        _ = script.pins("a")
        #expect(
            script.lookup("a")
                == .inFlight(
                    .init(
                        phase: .connecting, received: 0, total: nil, isPinned: true)))
        #expect(script.pinsOnArrival("a"))
        _ = script.pins("a", false)
        #expect(!script.pinsOnArrival("a"))
    }

    @Test func removingManySparesPinnedEntries() {
        script.has("a")
        _ = script.pins("a")
        #expect(script.removes("a", sparesPinned: true) == [])
        #expect(script.removes("a") == ["unlink a"])
    }
}
