import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Changes that the state announces to observers, and changes that it keeps silent.
@Suite("State: changes", .timeLimit(.minutes(5)))
struct ChangeScriptTests {
    let script = StateScript()

    init() {
        _ = script.scanFinishes()
        script.state.fetching.changes.isObserved = true
    }

    /// Takes the images that changed since the last call.
    private func changed() -> [String] {
        script.takesChanges().map { key in
            ["a", "b", "c"].first { script.key($0) == key } ?? "\(key)"
        }.sorted()
    }

    @Test func announcesExternalFilesOnceProbed() {
        #expect(script.changes(.appeared(script.key("a"))) == [])
        #expect(changed() == [])
        _ = script.looksAt("a", .entry(Sample.facts()))
        #expect(changed() == ["a"])
        // A file's change is announced only if it changes the answer to a lookup.
        #expect(script.changes(.appeared(script.key("a"))) == [])
        _ = script.looksAt("a", .entry(Sample.facts()))
        #expect(changed() == [])
        var facts = Sample.facts()
        facts.lastUsedAt = FileTime(UnixTime(rawValue: 1_800_000_000))
        facts.allocated += 4096
        _ = script.looksAt("a", .entry(facts))
        #expect(changed() == [])
        facts.size += 1
        _ = script.looksAt("a", .entry(facts))
        #expect(changed() == ["a"])
        _ = script.looksAt("a", .unusable)
        #expect(changed() == ["a"])
        _ = script.looksAt("a", .absent)
        #expect(changed() == [])
        for _ in 0..<2 { _ = script.looksAt("a", .obstructed) }
        #expect(changed() == ["a"])
        _ = script.looksAt("a", .obstructed)
        #expect(changed() == [])
        _ = script.changes(.vanished(script.key("a")))
        #expect(changed() == ["a"])
        #expect(script.lookup("a") == .missing(nil))
    }

    @Test func announcesDifferencesFoundByAScan() {
        script.has("a")
        script.has("b")
        _ = changed()
        _ = script.changes(.overflowed)
        script.state.disk.scanBegan()
        let start = script.state.disk.beginProbe()
        script.scans(
            [
                .entry(script.key("a"), .entry(Sample.facts())),
                .entry(script.key("b"), .absent),
                .entry(script.key("c"), .entry(Sample.facts())),
            ], since: start)
        #expect(changed() == ["b", "c"])
    }

    @Test func reportsRefreshProgressBesideTheCachedEntry() {
        script.has("a")
        _ = changed()
        script.caller("reader", wants: "a", isRefresh: true)
        #expect(changed() == ["a"])
        #expect(script.lookup("a")?.phase == .connecting)
        _ = script.progresses("a", received: 5000, total: 10_000)
        #expect(changed() == ["a"])
        guard case .cached(_, _, let renewal?)? = script.lookup("a") else {
            Issue.record("it is not cached, or nothing is on its way")
            return
        }
        #expect(renewal.phase == .receiving && renewal.received == 5000 && renewal.total == 10_000)
        _ = script.finishes("a")
        #expect(changed() == ["a"])
        #expect(script.lookup("a")?.isCached == true && script.lookup("a")?.phase == .publishing)
        _ = script.published("a")
        #expect(changed() == ["a"])
        _ = script.looksAt("a", .entry(Sample.facts()))
        #expect(script.lookup("a")?.isCached == true && script.lookup("a")?.phase == nil)
    }

    @Test func reportsWhyTheRefreshOfACachedImagePauses() {
        let script = StateScript(retry: RetryPolicy())
        script.has("a")
        script.caller("reader", wants: "a", isRefresh: true)
        _ = script.fails("a", FailedTransfer(failure: .http(503)))
        #expect(script.lookup("a")?.phase == .retrying)
        #expect(script.lookup("a")?.failure?.httpStatus == 503)
        #expect(script.lookup("a")?.failure?.retryAt != nil)
    }

    @Test func announcesTheRefreshOnceTheEntryIsGone() {
        script.has("a")
        script.caller("reader", wants: "a", isRefresh: true)
        _ = script.progresses("a", received: 5000, total: 10_000)
        _ = changed()
        _ = script.changes(.vanished(script.key("a")))
        #expect(changed() == ["a"])
        _ = script.progresses("a", received: 6000, total: 10_000)
        #expect(changed() == ["a"])
    }

    /// A listener can join at any time: each report after its first one is 1 % further.
    @Test func announcesProgressInStepsOfOnePercent() {
        script.caller("reader", wants: "a")
        _ = script.progresses("a", received: 0, total: 9999)
        var told: Int64 = 0
        for received in stride(from: Int64(0), through: 9999, by: 33) {
            _ = script.progresses("a", received: received, total: 9999)
            _ = changed()
            let now = self.received(in: script.state.fetching.lookup(script.key("a"), .announced))
            #expect(now == told || (now - told) * 100 >= 9999)
            #expect((received - now) * 100 < 9999)
            #expect(self.received(in: script.lookup("a")) == received)
            told = now
        }
        _ = script.finishes("a", size: 9999)
        #expect(received(in: script.state.fetching.lookup(script.key("a"), .announced)) == 9999)
    }

    @Test func withoutATotalAStepIsOnePercentOfTheBytesReceived() {
        script.caller("reader", wants: "a")
        _ = script.progresses("a", received: 100_000, total: nil)
        #expect(changed() == ["a"])
        _ = script.progresses("a", received: 100_500, total: nil)
        #expect(changed() == [])
        _ = script.progresses("a", received: 102_000, total: nil)
        #expect(changed() == ["a"])
    }

    @Test func reportedChangesCountAsTaken() {
        script.caller("reader", wants: "a")
        _ = script.state.fetching.lookup(script.key("a"), .announced)
        #expect(script.state.fetching.changes.keys == [script.key("a")])
        _ = script.state.fetching.lookup(script.key("a"), .taken)
        #expect(changed() == [])
        #expect(script.progresses("a", received: 1, total: 10) == ["announce"])
    }

    /// What has ended can be taken before the rest, and is not taken twice.
    @Test func endsAreAnnouncedAndTakenByThemselves() {
        for image in ["a", "b", "c"] { script.caller("reader of \(image)", wants: image) }
        _ = changed()
        _ = script.finishes("a")
        #expect(script.state.fetching.takeEnds() == [])
        #expect(script.published("a").contains("announce the end"))
        #expect(script.finishes("b", failing: .http(404)).contains("announce the end") == false)
        _ = script.progresses("c", received: 100, total: 1000)
        #expect(script.state.fetching.takeEnds() == [script.key("a"), script.key("b")])
        #expect(script.state.fetching.takeEnds() == [])
        #expect(changed() == ["c"])
        #expect(script.finishes("c", failing: .http(404)).contains("announce the end"))
        #expect(changed() == ["c"])
        #expect(script.state.fetching.takeEnds() == [])
    }

    @Test func remembersAFailureWithItsURL() {
        script.caller("reader", wants: "a")
        _ = script.finishes("a", failing: .http(404))
        #expect(script.state.fetching.failures.url(of: script.key("a")) == Sample.url("a"))
        #expect(script.state.fetching.failures.url(of: script.key("b")) == nil)
    }

    @Test func announcesPins() {
        script.has("a")
        script.caller("reader", wants: "b")
        _ = changed()
        for image in ["a", "b", "c"] {
            _ = script.event { $0.pinned(script.key(image), true, &$1) }
        }
        #expect(changed() == ["a", "b"])
    }

    private func received(in lookup: Lookup?) -> Int64 {
        guard case .inFlight(let progress)? = lookup else { return -1 }
        return progress.received
    }
}
