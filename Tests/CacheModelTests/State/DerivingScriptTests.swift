import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheFetching
@testable import CacheModel

/// Decisions about images that are derived from others: `a#side=64` from `a`.
@Suite("State: deriving", .timeLimit(.minutes(5)))
struct DerivingScriptTests {
    private let script = StateScript(retry: Self.retry)
    private static let retry: RetryPolicy = {
        var retry = RetryPolicy()
        retry.attempts = 1
        return retry
    }()

    /// The original of an image is asked for, as the cache does when it is told to find it.
    private func finds(
        _ image: String, priority: Priority = .normal, isRefresh: Bool = false
    ) -> [String] {
        let url = Sample.url(image)
        let options = FetchOptions(priority: priority, isRefresh: isRefresh)
        let id = script.flight(image)
        _ = script.key(original(of: image))
        return script.event { state, effects in
            guard let waiter = state.fetching.originalWanted(for: CacheKey(url), id, options) else {
                return
            }
            state.fetching.requested(
                CacheKey(url.original), url.original, by: waiter, options,
                now: FileTime(Sample.now), &effects)
            state.fetching.waiterNamed(waiter, &effects)
            state.fetching.originalAsked(for: CacheKey(url), id, by: waiter, &effects)
        }
    }

    private func original(of image: String) -> String {
        String(image.prefix { $0 != "#" })
    }

    private func derived(_ image: String) -> [String] {
        let id = script.flight(image)
        return script.event { $0.fetching.derived(script.key(image), id, size: 500, &$1) }
    }

    private func fails(_ image: String) -> [String] {
        let id = script.flight(image)
        return script.event {
            $0.fetching.derivingFailed(
                script.key(image), id, Failure(.underivable, ""), now: Sample.now, &$1)
        }
    }

    @Test func anImageIsDerivedFromACachedOriginalWithoutADownload() {
        script.has("a")
        script.caller("one", wants: "a#side=64") {
            #expect($0.contains("find the original of a#side=64"))
        }
        #expect(finds("a#side=64") == ["derive a#side=64 from a"])
        #expect(script.phase("a#side=64") == .deriving)
        #expect(script.state.fetching.scheduler.running == 0)
        #expect(derived("a#side=64").contains("publish a#side=64"))
        #expect(script.published("a#side=64").contains("tell one"))
        #expect(script.holds("a#side=64") && script.holds("a"))
        #expect(script.state.fetching.variants.isEmpty)
    }

    @Test func severalSizesWaitForOneDownload() {
        for side in [64, 128, 256] {
            script.caller("\(side)", wants: "a#side=\(side)")
            let said = finds("a#side=\(side)")
            #expect(said.contains("start a") == (side == 64))
        }
        #expect(script.finishes("a").contains("publish a"))
        let said = script.published("a")
        #expect(
            said.filter { $0.hasPrefix("derive") }.sorted() == [
                "derive a#side=128 from a", "derive a#side=256 from a", "derive a#side=64 from a",
            ])
        #expect(!said.contains { $0.hasPrefix("tell") })
    }

    @Test func itsProgressIsThatOfItsOriginal() {
        script.state.fetching.changes.isObserved = true
        script.caller("one", wants: "a#side=64")
        _ = finds("a#side=64")
        _ = script.takesChanges()
        _ = script.progresses("a", received: 40, total: 100)
        #expect(script.takesChanges().contains(script.key("a#side=64")))
        guard case .inFlight(let progress)? = script.lookup("a#side=64") else {
            Issue.record("it is not in flight")
            return
        }
        #expect(progress.phase == .receiving && progress.percent == 40)
    }

    @Test func theOriginalStopsWithTheLastCallerOfItsSizes() {
        let callers = ["a#side=64", "a#side=128"].map { image in
            let caller = script.caller(image, wants: image)
            _ = finds(image)
            return caller
        }
        #expect(!script.leaves(callers[0]).contains("cancel a"))
        #expect(script.leaves(callers[1]).contains("cancel a"))
        #expect(script.state.fetching.variants.isEmpty)
    }

    @Test func aMoreUrgentCallerMakesTheOriginalMoreUrgent() {
        script.caller("one", wants: "a#side=64", priority: .background)
        _ = finds("a#side=64")
        script.caller("two", wants: "a#side=64", priority: .background) {
            #expect(!$0.contains { $0.hasPrefix("find") })
        }
        script.caller("three", wants: "a#side=64", priority: .visible) {
            #expect($0.contains("find the original of a#side=64"))
        }
    }

    /// Otherwise images that scrolled away would hold their connections against those on the screen.
    @Test func theOriginalIsAsUrgentAsTheCallersThatStay() {
        let visible = script.caller("one", wants: "a#side=64", priority: .visible)
        #expect(finds("a#side=64", priority: .visible).contains("start a"))
        script.caller("two", wants: "a#side=64", priority: .background)
        #expect(script.leaves(visible).contains("find the original of a#side=64"))
        #expect(!finds("a#side=64", priority: .background).contains("cancel a"))
        let waiters = script.state.fetching.downloads[script.key("a")].map { flight in
            flight.waiters.compactMap { script.state.fetching.waiters[$0]?.priority }
        }
        #expect(waiters == [.background])
    }

    @Test func theFailureOfTheOriginalIsThatOfItsSizes() {
        script.caller("one", wants: "a#side=64")
        _ = finds("a#side=64")
        let said = script.finishes("a", failing: .http(404))
        #expect(said.contains("tell one: a#side=64 http"))
        #expect(script.state.fetching.downloads.isEmpty && script.state.fetching.variants.isEmpty)
    }

    @Test func aFailureIsRememberedUntilTheOriginalIsAnotherOne() {
        script.has("a")
        script.caller("one", wants: "a#side=64")
        _ = finds("a#side=64")
        #expect(fails("a#side=64").contains("tell one: a#side=64 underivable"))
        #expect(script.holds("a"))
        script.caller("two", wants: "a#side=64") {
            #expect($0 == ["tell two: a#side=64 underivable"])
        }
        script.caller("three", wants: "a", isRefresh: true)
        _ = script.finishes("a")
        _ = script.published("a")
        script.caller("four", wants: "a#side=64") {
            #expect($0.contains("find the original of a#side=64"))
        }
    }

    /// Its record has the validators of the original.
    @Test func withoutItsOriginalAStaleImageAsksTheOriginItself() {
        _ = script.looksAt("a#side=64", .entry(Sample.facts()))
        script.caller("one", wants: "a#side=64", isRefresh: true) {
            #expect($0.contains("start a#side=64"))
        }
        #expect(script.confirms("a#side=64").contains("confirm a#side=64"))
    }

    @Test func aNewerVersionAtTheOriginIsDownloadedAsTheOriginal() {
        _ = script.looksAt("a#side=64", .entry(Sample.facts()))
        script.caller("one", wants: "a#side=64", isRefresh: true)
        let id = script.flight("a#side=64")
        let said = script.event { $0.fetching.originalNeeded(script.key("a#side=64"), id, &$1) }
        #expect(said.contains("find the original of a#side=64 again"))
        #expect(finds("a#side=64", isRefresh: true).contains("start a"))
        #expect(script.state.fetching.scheduler.running == 1)
    }

    @Test func showingADerivedImageIsNoUseOfItsOriginal() {
        script.has("a")
        script.has("b")
        script.caller("one", wants: "a#side=64")
        _ = finds("a#side=64")
        #expect(script.order.first == script.key("b"))
    }

    @Test func drainingEndsImagesThatAreDerived() {
        script.has("b")
        for image in ["a#side=64", "b#side=64"] {
            script.caller(image, wants: image)
            _ = finds(image)
        }
        let said = script.event { $0.fetching.drainBegan(&$1) }
        #expect(said.contains("tell a#side=64: a#side=64 shuttingDown"))
        #expect(said.contains("tell b#side=64: b#side=64 shuttingDown"))
        #expect(script.state.fetching.downloads.isEmpty && script.state.fetching.variants.isEmpty)
    }
}
