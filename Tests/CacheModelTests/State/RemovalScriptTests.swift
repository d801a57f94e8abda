import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Removals, as scripts of events and decisions.
@Suite("State: removals", .timeLimit(.minutes(5)))
struct RemovalScriptTests {
    let script = StateScript()

    @Test func removingAnEntryUnlinksItOnce() {
        script.has("a")
        let (removal, _) = script.state.run {
            $0.removeAsked(script.key("a"), sparesPinned: false, &$1)
        }
        #expect(removal == Removal(entries: 1, bytes: 4096))
        #expect(script.lookup("a") == .missing(nil))
        #expect(script.removes("a") == [])
    }

    private func isPinned(_ image: String) -> Bool {
        let key = script.key(image)
        return script.state.fetching.isPinned(key)
    }

    @Test func aPinOutlivesTheDamagedFile() {
        let key = script.key("a")
        script.has("a")
        _ = script.event { $0.damageFound(key, isPinned: true, &$1) }
        #expect(script.looksAt("a", .absent) == .missing(nil))
        #expect(isPinned("a"))
        _ = script.removes("a", sparesPinned: true)
        #expect(isPinned("a"))
        script.has("a", Sample.facts())
        #expect(!isPinned("a"), "the file says so")
    }

    @Test(arguments: [true, false])
    func unpinningOrRemovingEndsThePinOfADamagedFile(isRemoved: Bool) {
        let key = script.key("a")
        script.has("a")
        _ = script.event { $0.damageFound(key, isPinned: true, &$1) }
        if isRemoved {
            _ = script.removes("a")
        } else {
            _ = script.event { $0.pinned(key, false, &$1) }
        }
        #expect(!isPinned("a"))
    }

    @Test func removingAnEntryRemovesItsPartial() {
        _ = script.changes(.partialChanged(script.key("a")))
        #expect(script.removes("a") == ["discard a"])
        script.state.disk.partialProbed(script.key("a"), 4096)
        #expect(script.removes("a") == ["discard a"])
        script.state.disk.partialProbed(script.key("a"), nil)
        #expect(script.removes("a") == [])
    }

    @Test func removingAQueuedDownloadForgetsIt() {
        let script = StateScript(transferLimit: 1)
        script.caller("runner", wants: "a")
        script.caller("waiter", wants: "b")
        #expect(script.removes("b") == ["discard b", "tell waiter: b removed"])
        #expect(script.finishes("a", failing: .http(404)) == ["tell runner: a http"])
    }

    @Test func removingARunningDownloadStopsItAndRemovesItsPartial() {
        script.caller("one", wants: "a")
        _ = script.progresses("a", received: 10, total: 100)
        #expect(script.removes("a") == ["cancel a and discard", "tell one: a removed"])
        #expect(script.lookup("a") == .missing(nil))
    }

    @Test func removingDuringAPublicationUnlinksTheFileAfterwards() {
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        #expect(script.removes("a") == [])
        #expect(script.published("a") == ["unlink a", "tell one: a removed"])
        #expect(!script.holds("a"))
    }

    @Test func aNewRequestCancelsTheRemovalOfAPublication() {
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        #expect(script.removes("a") == [])
        script.caller("two", wants: "a") { #expect($0 == []) }
        #expect(Set(script.published("a")) == ["tell one", "tell two"])
        #expect(script.holds("a"))
    }

    @Test func removingDuringARefreshRemovesBothVersions() {
        script.has("a")
        script.caller("one", wants: "a", isRefresh: true)
        #expect(
            script.removes("a") == ["cancel a and discard", "unlink a", "tell one: a removed"])
    }

    @Test func aNewRequestWhileAReplacedEntryIsRemovedKeepsTheNewFile() {
        script.has("a")
        script.caller("one", wants: "a", isRefresh: true)
        _ = script.finishes("a")
        // An unlink queued now would remove the file that is about to be published.
        #expect(script.removes("a") == [])
        #expect(!script.holds("a"))
        script.caller("two", wants: "a") { #expect($0 == []) }
        #expect(Set(script.published("a")) == ["tell one", "tell two"])
        #expect(script.holds("a"))
    }

    @Test func aFailedReplacementDoesNotRestoreARemovedEntry() {
        script.has("a")
        script.caller("one", wants: "a", isRefresh: true)
        _ = script.finishes("a")
        #expect(script.removes("a") == [])
        let failure = Failure(.storage, "no room")
        #expect(script.published("a", failing: failure) == ["unlink a", "tell one: a storage"])
        #expect(!script.holds("a"))
    }

    @Test func pinnedEntriesStayUnlessNamed() {
        script.has("a")
        #expect(script.looksAt("a", .entry(Sample.facts(isPinned: true))) != nil)
        #expect(script.removes("a", sparesPinned: true) == [])
        #expect(script.holds("a"))
        #expect(script.removes("a") == ["unlink a"])
    }

    @Test func removingForgetsARememberedFailure() {
        script.caller("one", wants: "a")
        _ = script.finishes("a", failing: .http(404))
        _ = script.removes("a")
        #expect(script.lookup("a") == .missing(nil))
    }
}
