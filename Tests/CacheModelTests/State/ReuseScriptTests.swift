import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Stale entries: hits, revalidations, confirmations, and entries that must not be stored.
@Suite("State: reuse", .timeLimit(.minutes(5)))
struct ReuseScriptTests {
    let script: StateScript

    init() {
        self.init(script: StateScript())
    }

    private init(script: StateScript) {
        self.script = script
    }

    /// The time until which the entry is fresh.
    private let end = Sample.now + 50
    private let mustRevalidate = Staleness(reuse: .mustRevalidate, allowsStaleIfError: false)
    private let outlives = Staleness(reuse: .mustRevalidate, allowsStaleIfError: true)

    /// The image is an entry that was fresh until ``end``.
    private func hasStale(_ image: String, removeAt: UnixTime? = nil, isPinned: Bool = false) {
        var facts = Sample.facts(isPinned: isPinned)
        facts.freshUntil = end
        facts.removeAt = removeAt
        _ = script.looksAt(image, .entry(facts))
    }

    private func wants(
        _ image: String, _ stale: Staleness?, isRefresh: Bool = false, at now: UnixTime? = nil
    ) -> [String] {
        let id = script.state.fetching.waiterBegan()
        let said = script.event { state, effects in
            state.fetching.requested(
                script.key(image), Sample.url(image), by: id, FetchOptions(isRefresh: isRefresh),
                stale: stale, now: FileTime(now ?? end), &effects)
        }
        return said + script.event { $0.fetching.waiterNamed(id, &$1) }
    }

    private func confirms(_ image: String, _ end: RevalidationEnd) -> [String] {
        #expect(script.confirms(image) == ["confirm \(image)"])
        #expect(script.phase(image) == .publishing)
        return isConfirmed(image, end)
    }

    /// Reports whether the record of a confirmed entry was rewritten.
    ///
    /// - Parameter change: a change that the watch reports while the entry is probed.
    private func isConfirmed(
        _ image: String, _ end: RevalidationEnd, during change: DirectoryChange? = nil
    ) -> [String] {
        let (key, id) = (script.key(image), script.flight(image))
        let start = script.state.disk.beginProbe()
        if let change { _ = script.changes(change) }
        return script.event { $0.confirmed(key, id, end, since: start, &$1) }
    }

    @Test func aFreshEntryIsAHit() {
        hasStale("a")
        #expect(wants("a", mustRevalidate, at: Sample.now + 49) == ["tell nobody"])
        #expect(script.state.fetching.counters.hits == 1)
    }

    @Test func revalidatesAStaleEntry() {
        hasStale("a")
        #expect(wants("a", mustRevalidate) == ["start a"])
        #expect(script.state.fetching.counters.misses == 1)
    }

    @Test func anEntryJustRevalidatedForAnotherCallerIsAHit() {
        hasStale("a")
        #expect(wants("a", Staleness(reuse: .fresh, allowsStaleIfError: true)) == ["tell nobody"])
    }

    @Test func revalidatesOnceInTheBackgroundWithinTheWindow() {
        hasStale("a")
        let window = Staleness(reuse: .staleWhileRevalidating, allowsStaleIfError: true)
        #expect(wants("a", window) == ["start a", "tell nobody"])
        #expect(script.state.fetching.downloads[script.key("a")]?.detached?.priority == .background)
        #expect(wants("a", window) == ["tell nobody"])
        #expect(script.state.fetching.counters.hits == 2)
        #expect(confirms("a", .stored(Sample.facts())) == [])
        #expect(script.state.fetching.downloads.isEmpty)
    }

    /// The same image can be named with other staleness each time, because its entry changes in between.
    @Test func aCallerThatNamesAnImageAgainStillWaitsForIt() {
        hasStale("a")
        let id = script.state.fetching.waiterBegan()
        let window = Staleness(reuse: .staleWhileRevalidating, allowsStaleIfError: true)
        var said: [String] = []
        for stale in [mustRevalidate, window, window] {
            said += script.event { state, effects in
                state.fetching.requested(
                    script.key("a"), Sample.url("a"), by: id, FetchOptions(), stale: stale,
                    now: FileTime(end), &effects)
            }
        }
        #expect(said == ["start a"])
        #expect(script.event { $0.fetching.waiterNamed(id, &$1) } == [])
        script.state.fetching.checkInvariants()
        #expect(confirms("a", .stored(Sample.facts())) == ["tell nobody"])
    }

    @Test func skipsBackgroundRevalidationIfTheDetachedQuotaIsUsedUp() {
        script.state.fetching.waiters.detached = DetachedDownloads(limit: 1)
        hasStale("a")
        hasStale("b")
        let window = Staleness(reuse: .staleWhileRevalidating, allowsStaleIfError: true)
        #expect(wants("a", window) == ["start a", "tell nobody"])
        #expect(wants("b", window) == ["tell nobody"])
        #expect(confirms("a", .stored(Sample.facts())) == [])
        #expect(wants("b", window) == ["start b", "tell nobody"])
    }

    @Test func aConfirmationAnswersTheCallerAndMakesTheEntryFresh() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        var facts = Sample.facts()
        facts.freshUntil = end + 100
        #expect(confirms("a", .stored(facts)) == ["tell nobody"])
        #expect(script.state.fetching.counters.revalidated == 1)
        #expect(script.state.fetching.downloads.publishing == 0)
        #expect(wants("a", nil, at: end + 99) == ["tell nobody"])
        #expect(wants("a", nil, at: end + 100) == ["start a"])
    }

    @Test func aRecordWriteFailureDoesNotFailTheRequest() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        #expect(confirms("a", .unstored) == ["tell nobody"])
        #expect(script.holds("a"))
    }

    @Test func downloadsAnEntryRemovedDuringItsRevalidation() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        #expect(confirms("a", .gone) == ["start a"])
        #expect(script.finishes("a") == ["publish a"])
        #expect(script.published("a") == ["tell nobody"])
    }

    @Test func probesAnEntryThatVanishedDuringItsConfirmation() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        _ = script.confirms("a")
        let said = isConfirmed(
            "a", .stored(Sample.facts()), during: .vanished(script.key("a")))
        #expect(said == ["tell nobody"])
        #expect(script.lookup("a") == nil)
    }

    @Test func aConfirmedEntryIsNotProbedAgain() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        _ = script.confirms("a")
        // The watch reports the new record before the entry is probed.
        _ = script.changes(.appeared(script.key("a")))
        #expect(isConfirmed("a", .stored(Sample.facts(size: 7))) == ["tell nobody"])
        guard case .cached(let facts, _, _) = script.lookup("a") else {
            Issue.record("the entry has to be probed again")
            return
        }
        #expect(facts.size == 7)
    }

    @Test func anEntryRemovedDuringItsConfirmationStaysRemoved() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        _ = script.confirms("a")
        #expect(script.removes("a") == [])
        let said = isConfirmed("a", .stored(Sample.facts()))
        #expect(said == ["unlink a", "tell nobody: a removed"])
        #expect(!script.holds("a"))
    }

    @Test func anEntryRequestedAgainDuringItsConfirmationStays() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        _ = script.confirms("a")
        _ = script.removes("a")
        #expect(wants("a", nil) == [])
        let said = isConfirmed("a", .stored(Sample.facts()))
        #expect(said == ["tell nobody", "tell nobody"])
        #expect(script.holds("a"))
    }

    @Test func drainingWaitsForAConfirmationToBeWritten() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        _ = script.confirms("a")
        #expect(script.event { $0.fetching.drainBegan(&$1) } == [])
        #expect(
            isConfirmed("a", .stored(Sample.facts())) == ["tell nobody"])
    }

    @Test func drainingStartsNoNewDownload() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        _ = script.confirms("a")
        _ = script.event { $0.fetching.drainBegan(&$1) }
        let said = isConfirmed("a", .gone)
        #expect(said == ["tell nobody: a shuttingDown"])
    }

    // MARK: Failures

    private func fails(
        _ image: String, _ failure: Failure, allowsStaleIfError: Bool = false
    ) -> [String] {
        script.fails(
            image, FailedTransfer(failure: failure, allowsStaleIfError: allowsStaleIfError))
    }

    @Test func servesAStaleEntryAfterTheFirstFailure() {
        let script = StateScript(retry: RetryPolicy())
        let test = Self(script: script)
        test.hasStale("a")
        #expect(test.wants("a", outlives) == ["start a"])
        #expect(test.fails("a", .http(503), allowsStaleIfError: true) == ["tell nobody"])
        #expect(script.state.fetching.downloads.isEmpty)
        #expect(script.state.fetching.counters.staleAnswers == 1)
        // The failure is visible, and the entry is not revalidated again at once.
        #expect(script.lookup("a")?.failure?.retryAt == Sample.now + 10)
        #expect(test.wants("a", outlives, at: Sample.now + 9) == ["tell nobody"])
        #expect(script.state.fetching.counters.staleAnswers == 1)
        #expect(test.wants("a", outlives) == ["start a"])
        #expect(test.confirms("a", .stored(Sample.facts())) == ["tell nobody"])
        #expect(script.lookup("a")?.failure == nil)
    }

    @Test func servesAStaleEntryWhileTheFailureIsRemembered() {
        let script = StateScript(retry: RetryPolicy())
        let test = Self(script: script)
        test.hasStale("a")
        _ = test.wants("a", outlives)
        _ = test.fails("a", .http(503), allowsStaleIfError: true)
        script.state.disk.noStoreGrace = NoStoreGrace()
        // The failure is remembered for 10 s, and the entry was fresh for 50.
        let later = FailedTransfer(failure: .http(503), serverDelay: 60, allowsStaleIfError: true)
        _ = test.wants("a", outlives)
        _ = script.fails("a", later, now: Moment(time: end, instant: .now))
        #expect(test.wants("a", outlives, at: end + 30) == ["tell nobody"])
        #expect(test.wants("a", mustRevalidate, at: end + 30) == ["tell nobody: a http"])
        #expect(script.state.fetching.counters.staleAnswers == 3)
        #expect(script.state.fetching.counters.failuresRepeated == 1)
    }

    @Test func reportsTheFailureToACallerThatRefreshes() {
        hasStale("a")
        #expect(wants("a", outlives) == ["start a"])
        #expect(wants("a", nil, isRefresh: true) == [])
        let said = fails("a", .http(503), allowsStaleIfError: true)
        #expect(said == ["tell nobody", "tell nobody: a http"])
        #expect(script.holds("a"))
    }

    /// The state retries for a caller that refreshes. No other caller waits for the retry.
    @Test func servesAStaleEntryDuringARetry() {
        let script = StateScript(retry: RetryPolicy())
        let test = Self(script: script)
        test.hasStale("a")
        #expect(test.wants("a", outlives, isRefresh: true) == ["start a"])
        #expect(test.wants("a", outlives) == [])
        #expect(test.fails("a", .http(503), allowsStaleIfError: true).contains("plan"))
        #expect(test.wants("a", outlives) == ["tell nobody"])
        #expect(
            script.event { $0.fetching.pausesEnded(now: .now + .seconds(600), &$1) } == ["start a"])
        #expect(test.wants("a", outlives) == ["tell nobody"])
        #expect(test.wants("a", mustRevalidate) == [])
    }

    @Test func anEntryThatMustBeRevalidatedFails() {
        hasStale("a")
        _ = wants("a", mustRevalidate)
        #expect(fails("a", .http(503)) == ["tell nobody: a http"])
        #expect(script.holds("a"))
    }

    @Test(arguments: [404, 410])
    func removesAnEntryThatTheOriginNoLongerHas(status: Int) {
        hasStale("a")
        _ = wants("a", outlives)
        #expect(fails("a", .http(status)) == ["unlink a", "tell nobody: a http"])
        #expect(!script.holds("a"))
        #expect(script.state.fetching.counters.withdrawn.entries == 1)
    }

    @Test func aPinKeepsAnEntryThatTheOriginNoLongerHas() {
        hasStale("a", isPinned: true)
        _ = wants("a", outlives)
        #expect(fails("a", .http(404)) == ["tell nobody: a http"])
        #expect(script.holds("a"))
    }

    @Test func otherStatusesRemoveNothing() {
        hasStale("a")
        _ = wants("a", outlives)
        #expect(fails("a", .http(403)) == ["tell nobody: a http"])
        #expect(script.holds("a"))
    }

    // MARK: Entries that must not be stored

    /// Downloads an image that the cache may keep until `removeAt`.
    private func arrives(_ image: String, removeAt end: UnixTime) -> [String] {
        var facts = Sample.facts()
        facts.removeAt = end
        _ = script.finishes(image)
        let said = script.published(image, facts)
        _ = script.looksAt(image, .entry(facts))
        return said
    }

    private func graceEnds(after seconds: Int64) -> [String] {
        script.event { state, effects in
            _ = state.removeNotStorable(now: Sample.now + seconds, time: 60, &effects)
        }
    }

    @Test func removesANoStoreEntryAfterItsGraceTime() {
        hasStale("a", removeAt: Sample.now + 60)
        #expect(graceEnds(after: 59) == [])
        #expect(graceEnds(after: 60) == ["unlink a"])
        // The clock was set back.
        hasStale("b", removeAt: Sample.now + 60)
        #expect(
            graceEnds(after: -86400) == ["unlink b"])
        #expect(graceEnds(after: 61) == [])
    }

    @Test func keepsANoStoreEntryUntilItsCallersAreNotified() {
        script.caller("both", wants: "a", "b")
        script.caller("one", wants: "a")
        #expect(arrives("a", removeAt: Sample.now + 60) == ["tell one"])
        #expect(graceEnds(after: 60) == [])
        #expect(graceEnds(after: 120) == [])
        _ = script.finishes("b")
        #expect(script.published("b") == ["tell both"])
        #expect(graceEnds(after: 179) == [])
        #expect(graceEnds(after: 180) == ["unlink a"])
    }

    @Test func aProbeDoesNotShortenTheGraceTime() {
        script.caller("both", wants: "a", "b")
        _ = arrives("a", removeAt: Sample.now + 60)
        #expect(graceEnds(after: 120) == [])
        _ = script.finishes("b")
        #expect(script.published("b") == ["tell both"])
        _ = script.changes(.appeared(script.key("a")))
        var facts = Sample.facts()
        facts.removeAt = Sample.now + 60
        _ = script.looksAt("a", .entry(facts))
        #expect(graceEnds(after: 179) == [])
        #expect(graceEnds(after: 180) == ["unlink a"])
    }

    @Test func removesNothingFromAnotherDirectoryBeforeItsScan() {
        hasStale("a", removeAt: Sample.now + 60)
        _ = script.event { $0.directoryReplaced(&$1) }
        #expect(graceEnds(after: 60) == [])
    }

    @Test func removesANoStoreEntryWithItsLastCaller() {
        let caller = script.caller("both", wants: "a", "b")
        _ = arrives("a", removeAt: Sample.now + 60)
        _ = script.leaves(caller)
        #expect(graceEnds(after: 60) == ["unlink a"])
    }

    @Test(arguments: [true, false])
    func retriesTheRemovalOfANoStoreEntry(byTime: Bool) {
        let ends = { graceEnds(after: 60) }
        hasStale("a", removeAt: Sample.now + 60)
        #expect(ends() == ["unlink a"])
        _ = script.keeps("a", othersCould: false)
        hasStale("a", removeAt: Sample.now + 60)
        #expect(ends() == [])
        if byTime {
            script.state.disk.space.retryAllEvictions()
        } else {
            _ = script.changes(.appeared(script.key("a")))
            hasStale("a", removeAt: Sample.now + 60)
        }
        #expect(ends() == ["unlink a"])
    }

    @Test func aPinKeepsANoStoreEntryUntilItIsUnpinned() {
        hasStale("a", removeAt: Sample.now, isPinned: true)
        #expect(graceEnds(after: 0) == [])
        _ = script.event { $0.pinned(script.key("a"), false, &$1) }
        #expect(graceEnds(after: 0) == ["unlink a"])
    }

    @Test func keepsAStorableReplacementOfANoStoreEntry() {
        hasStale("a", removeAt: Sample.now)
        _ = wants("a", mustRevalidate)
        _ = script.finishes("a")
        #expect(graceEnds(after: 0) == [])
        _ = script.published("a")
        _ = script.looksAt("a", .entry(Sample.facts()))
        #expect(graceEnds(after: 0) == [])
        #expect(script.holds("a"))
    }
}
