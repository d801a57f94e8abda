import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// The life of a download, as scripts of events and decisions.
@Suite("State: downloads", .timeLimit(.minutes(5)))
struct TransferScriptTests {
    let script = StateScript()

    @Test func oneDownloadServesAllItsCallers() {
        script.caller("first", wants: "a") { #expect($0 == ["start a"]) }
        for number in 0..<100 { script.caller("next \(number)", wants: "a") { #expect($0 == []) } }
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.phase("a") == .publishing)
        let told = script.published("a")
        #expect(told.count == 101)
        #expect(Set(told).count == 101)
        #expect(script.state.fetching.counters.joined == 100)
        #expect(script.state.fetching.waiters.all.isEmpty)
    }

    @Test func aCachedImageIsAnsweredAtOnce() {
        script.has("a")
        script.caller("reader", wants: "a") { #expect($0 == ["tell reader"]) }
        #expect(script.state.fetching.counters.hits == 1)
    }

    @Test func notifiesACallerOnceAfterAllItsImagesSettle() {
        script.caller("reader", wants: "a", "b", "c")
        #expect(script.finishes("b", failing: .http(404)) == [])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == [])
        #expect(script.finishes("c") == ["publish c"])
        #expect(script.published("c") == ["tell reader: b http"])
    }

    @Test func aRepeatedImageInOneRequestCountsOnce() {
        script.caller("reader", wants: "a", "a") { #expect($0 == ["start a"]) }
        #expect(script.finishes("a", failing: .http(500)) == ["tell reader: a http"])
    }

    @Test func anEmptyRequestIsAnsweredAtOnce() {
        script.caller("idler") { #expect($0 == ["tell idler"]) }
    }

    @Test func notifiesNoCallerBeforeItNamesAllItsImages() {
        let id = script.state.fetching.waiterBegan()
        _ = script.want("a", by: id)
        _ = script.finishes("a")
        #expect(script.published("a") == [])
        let told = script.event { $0.fetching.waiterNamed(id, &$1) }
        #expect(told.count == 1)
    }

    @Test func reportsProgressByThePercent() {
        script.state.fetching.changes.isObserved = true
        script.caller("reader", wants: "a")
        _ = script.takesChanges()
        #expect(script.progresses("a", received: 0, total: 10_000) == ["announce"])
        #expect(
            script.lookup("a") == .inFlight(.init(phase: .receiving, received: 0, total: 10_000)))
        _ = script.takesChanges()
        #expect(script.progresses("a", received: 99, total: 10_000) == [])
        #expect(script.progresses("a", received: 100, total: 10_000) == ["announce"])
        #expect(script.state.fetching.counters.bytesReceived == 100)
    }

    @Test func wakesObserversForAnImageThatArrivesAtOnce() {
        script.state.fetching.changes.isObserved = true
        script.caller("reader", wants: "a")
        _ = script.takesChanges()
        #expect(script.finishes("a").contains("announce"))
        #expect(script.takesChanges() == [script.key("a")])
        #expect(script.published("a").contains("announce"))
    }

    /// An image that arrives at once is reported only when it is complete.
    @Test func reportsTheLastBytesWithTheEnd() {
        script.caller("reader", wants: "a", "b")
        _ = script.progresses("b", received: 900, total: nil)
        _ = script.finishes("a")
        _ = script.finishes("b")
        for name in ["a", "b"] {
            let whole = Progress(phase: .publishing, received: 1000, total: 1000)
            #expect(script.lookup(name) == .inFlight(whole))
        }
        #expect(script.state.fetching.counters.bytesReceived == 2000)
    }

    @Test func downloadsAnImageLostWithItsBatchOnceMore() {
        script.caller("one", wants: "a")
        _ = script.asks("a", for: 1, of: 1000)
        _ = script.finishes("a")
        #expect(script.isLost("a") == ["start a"])
        #expect(script.state.disk.space.reserved == 0)
        #expect(script.lookup("a") == nil)
        _ = script.finishes("a")
        #expect(script.isLost("a") == ["tell one: a storage"])
    }

    @Test(arguments: [false, true])
    func doesNotDownloadALostImageThatHasNoWaiter(isRemoved: Bool) {
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        #expect(
            (isRemoved ? script.removes("a") : script.event { $0.fetching.drainBegan(&$1) }) == [])
        #expect(script.isLost("a") == (isRemoved ? ["unlink a"] : []) + ["tell one: a storage"])
        #expect(script.state.fetching.downloads.isEmpty)
    }

    @Test func noMoreDownloadsRunThanAllowed() {
        let script = StateScript(transferLimit: 2)
        script.caller("reader", wants: "a", "b", "c", "d") {
            #expect($0 == ["start a", "start b"])
        }
        #expect(script.phase("c") == .queued)
        #expect(script.finishes("b") == ["start c", "publish b"])
        #expect(script.finishes("c", failing: .http(404)) == ["start d"])
        #expect(script.state.fetching.scheduler.running == 2)
    }

    @Test func startsTheMostUrgentDownloadFirst() {
        let script = StateScript(transferLimit: 1)
        script.caller("first", wants: "a")
        script.caller("background", wants: "b", priority: .background)
        script.caller("normal", wants: "c", "d")
        script.caller("visible", wants: "e", priority: .visible)
        #expect(script.finishes("a", failing: .http(404)).first == "start e")
        #expect(script.finishes("e", failing: .http(404)).first == "start c")
        #expect(script.finishes("c", failing: .http(404)).first == "start d")
        #expect(script.finishes("d", failing: .http(404)).first == "start b")
    }

    @Test func aMoreUrgentRequestRaisesAQueuedDownload() {
        let script = StateScript(transferLimit: 1)
        script.caller("first", wants: "a")
        script.caller("background", wants: "b", "c", priority: .background)
        script.caller("looker", wants: "c", priority: .visible) { #expect($0 == []) }
        script.caller("later", wants: "c", priority: .background) { #expect($0 == []) }
        #expect(script.finishes("a", failing: .http(404)).first == "start c")
        // The old place in the queue is skipped: the download does not start twice.
        #expect(script.finishes("c", failing: .http(404)).first == "start b")
        #expect(script.finishes("b", failing: .http(404)).count == 1)
    }

    @Test func aRefreshLeavesTheEntryCached() {
        script.has("a")
        script.caller("reader", wants: "a", isRefresh: true) { #expect($0 == ["start a"]) }
        #expect(script.lookup("a")?.isCached == true)
        _ = script.finishes("a")
        #expect(script.lookup("a")?.isCached == true)
        #expect(script.published("a") == ["tell reader"])
    }

    @Test func aFailedRefreshLeavesTheEntry() {
        script.has("a")
        script.caller("reader", wants: "a", isRefresh: true)
        #expect(script.finishes("a", failing: .http(503)) == ["tell reader: a http"])
        let facts = Sample.facts(lastUsedAt: 1_790_000_100)
        #expect(script.lookup("a") == .cached(facts, failure: .http(503)))
    }

    @Test func remembersAFailureUntilADownloadSucceeds() {
        script.caller("reader", wants: "a")
        _ = script.finishes("a", failing: .http(404))
        #expect(script.lookup("a") == .missing(.http(404)))
        script.has("a")
        _ = script.changes(.vanished(script.key("a")))
        #expect(script.lookup("a") == .missing(nil))
    }

    @Test func anImageThatCannotBePublishedIsMissing() {
        script.caller("reader", wants: "a")
        _ = script.finishes("a")
        let failure = Failure(.storage, "no room")
        #expect(script.published("a", failing: failure) == ["tell reader: a storage"])
        #expect(script.looksAt("a", .absent) == .missing(failure))
    }

    /// A publication can wait for further images of its batch, and only for those.
    @Test func expectsMorePublicationsWhileADownloadRunsOrCanStart() {
        let script = StateScript(transferLimit: 1, publishingLimit: 2)
        #expect(!script.isMoreToCome)
        script.caller("reader", wants: "a", "b", "c")
        #expect(script.isMoreToCome)
        #expect(script.finishes("a") == ["start b", "publish a"])
        #expect(script.finishes("b") == ["publish b"])
        #expect(script.phase("c") == .queued && !script.isMoreToCome, "as many wait as may")
        #expect(script.published("a") == ["start c"])
        #expect(script.isMoreToCome)
    }

    // MARK: The end

    @Test func drainingStopsDownloadsAndPublishesStagedImages() {
        let script = StateScript(transferLimit: 2)
        script.caller("one", wants: "a")
        script.caller("two", wants: "b")
        script.caller("three", wants: "c")
        _ = script.finishes("a")
        #expect(script.phase("c") == .connecting)
        script.caller("four", wants: "d")
        let said = script.event { $0.fetching.drainBegan(&$1) }
        #expect(
            Set(said) == [
                "cancel b", "cancel c", "tell two: b shuttingDown", "tell three: c shuttingDown",
                "tell four: d shuttingDown",
            ])
        #expect(script.published("a") == ["tell one"])
        script.caller("late", wants: "e") { #expect($0 == ["tell late: e shuttingDown"]) }
        #expect(script.want("f", by: nil) == [])
        #expect(script.state.fetching.downloads.isEmpty)
    }
}

extension StateScript {
    /// A staged image is lost with others of its batch.
    fileprivate func isLost(_ image: String) -> [String] {
        let (key, id) = (key(image), flight(image))
        return event { state, effects in
            state.published(
                Publication(
                    flight: id, key: key, isLostByOthers: true,
                    result: .failure(Failure(.storage, "the directory was not synced"))),
                &effects)
        }
    }
}
