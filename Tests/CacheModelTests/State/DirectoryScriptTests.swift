import CacheKey
import CacheSamples
import CacheValues
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Changes in the directory, and when the state can trust its index.
@Suite("State: the directory", .timeLimit(.minutes(5)))
struct DirectoryScriptTests {
    let script = StateScript()

    @Test func probesANewNameBeforeAnswering() {
        _ = script.changes(.appeared(script.key("a")))
        #expect(script.lookup("a") == nil)
        #expect(script.lookup("b") == .missing(nil))
        #expect(script.looksAt("a", .entry(Sample.facts())) == .cached(Sample.facts()))
        #expect(script.lookup("a") == .cached(Sample.facts()))
    }

    @Test func reportsAVanishedFileAsMissingWithoutAProbe() {
        script.has("a")
        _ = script.changes(.vanished(script.key("a")))
        #expect(script.lookup("a") == .missing(nil))
    }

    @Test(arguments: [EntryProbe.absent, .unusable, .obstructed])
    func reportsAFileThatIsNoEntryAsMissing(probe: EntryProbe) {
        script.has("a")
        _ = script.changes(.appeared(script.key("a")))
        guard case .missing(let failure)? = script.looksAt("a", probe) else {
            Issue.record("\(probe) is not missing")
            return
        }
        #expect((failure?.kind == .obstructed) == (probe == .obstructed))
    }

    @Test func probesAPublishedNameAtTheFirstLookup() {
        // publish: renames K
        // anyone:  removes K; the state handles this event before the publication's report
        // publish: reports K as published        → a ghost entry, if the state believed it
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        _ = script.changes(.appeared(key))
        _ = script.changes(.vanished(key))
        #expect(script.published("a") == ["tell one"])
        #expect(script.lookup("a") == nil)
        #expect(script.looksAt("a", .absent) == .missing(nil))
    }

    @Test func skipsTheProbeAfterAnUndisturbedPublication() {
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        script.see(["created"], of: key)
        #expect(script.published("a") == ["tell one"])
        guard case .cached? = script.lookup("a") else {
            Issue.record("the state probes a publication that no one else touched")
            return
        }
        _ = script.changes(.appeared(key))
        #expect(script.lookup("a") == nil)
    }

    /// A rename proves nothing, so the name is probed. The probe is true unless the name changes during it.
    @Test(arguments: [false, true])
    func believesTheProbeOfAPublishedName(isDisturbed: Bool) {
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        script.see(["appeared"], of: key)
        var publication = Publication(
            flight: script.flight("a"), key: key,
            result: .success(Sample.facts(lastUsedAt: 1_790_000_007)))
        let start = script.state.disk.beginProbe()
        publication.probed(.entry(Sample.facts(size: 7)), since: start)
        if isDisturbed { script.see(["appeared"], of: key) }
        let said = script.event { [publication] state, effects in
            state.published(publication, &effects)
            state.disk.endProbe()
        }
        #expect(said == ["tell one"])
        guard case .cached(let facts, _, _)? = script.lookup("a") else {
            #expect(isDisturbed, "the state probes the name again")
            return
        }
        #expect(!isDisturbed && facts.size == 7)
        #expect(facts.lastUsedAt == FileTime(UnixTime(rawValue: 1_790_000_007)))
    }

    @Test func aPublicationConsumesItsPartialUnlessAnExternalOneAppears() {
        let key = script.key("a")
        for isLaid in [false, true] {
            script.caller("one", wants: "a")
            _ = script.asks("a", for: 1, of: 1)
            _ = script.finishes("a")
            for change in [DirectoryChange.partialChanged(key), .partialVanished(key)] {
                _ = script.changes(change)
            }
            if isLaid { _ = script.changes(.partialChanged(key)) }
            _ = script.changes(.appeared(key))
            _ = script.changes(.appeared(key))
            _ = script.published("a")
            #expect(script.state.disk.space.partials.dirtyNames == (isLaid ? [key] : []))
            _ = script.changes(.vanished(key))
        }
    }

    /// The probe ends before the download has space, or while it has it.
    @Test(arguments: [nil, false, true])
    func probesAnExternalPartialBesideAnImageWithoutOne(hasRoom: Bool?) {
        let key = script.key("a")
        script.caller("one", wants: "a")
        if hasRoom == false { script.see(["partialChanged"], of: key) }
        _ = script.asks("a", for: 1, of: 1)
        if hasRoom == true { script.see(["partialChanged"], of: key) }
        _ = script.finishes("a")
        script.see(["created"], of: key)
        _ = script.published("a")
        #expect(script.state.disk.space.partials.dirtyNames == (hasRoom == nil ? [] : [key]))
    }

    /// The download starts over without the partial of an earlier one, and fails to remove it.
    @Test func probesAnEarlierPartialThatIsStillThere() {
        let key = script.key("a")
        script.state.disk.partialProbed(key, 40_960)
        script.caller("one", wants: "a")
        _ = script.asks("a", for: 1, of: 1)
        _ = script.finishes("a")
        script.see(["created"], of: key)
        _ = script.published("a")
        #expect(script.state.disk.space.partials.dirtyNames == [key])
        script.state.disk.partialProbed(key, 40_960)
        #expect(script.state.disk.space.partials.total == 40_960)
    }

    @Test(arguments: [
        [], ["appeared", "appeared"], ["created", "appeared"], ["created", "vanished"],
        ["created", "vanished", "created"],
        ["created", "created"], ["partialChanged", "created"],
    ])
    func treatsUnexpectedEventsDuringAPublicationAsExternalChanges(events: [String]) {
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        script.see(events, of: key)
        _ = script.published("a")
        #expect(script.lookup("a") == nil)
    }

    @Test(arguments: [false, true])
    func probesAPublicationIfChangesWereLostDuringIt(isReplaced: Bool) {
        // publish: renames K, in a directory that another directory replaces
        // scan:    reads the new directory to the end
        // publish: reports K as published        → a ghost entry, if the state believed it
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        script.see(["created"], of: key)
        let said =
            isReplaced ? script.event { $0.directoryReplaced(&$1) } : script.changes(.overflowed)
        #expect(said == ["scan"])
        script.state.disk.scanBegan()
        #expect(script.scanFinishes())
        #expect(script.published("a") == ["tell one"])
        #expect(script.lookup("a") == nil)
        #expect(script.looksAt("a", .absent) == .missing(nil))
    }

    @Test func probesForAPartialIfChangesWereLost() {
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.asks("a", for: 1, of: 1)
        script.see(["partialChanged"], of: key)
        _ = script.finishes("a")
        _ = script.changes(.partialVanished(key))
        _ = script.changes(.overflowed)
        script.state.disk.scanBegan()
        #expect(script.scanFinishes())
        _ = script.published("a")
        #expect(script.state.disk.space.partials.dirtyNames == [key])
    }

    @Test func aScanReportsADirectoryUnderAnEntryName() {
        let start = script.state.disk.beginProbe()
        script.scans([.entry(script.key("a"), .obstructed)], since: start)
        _ = script.scanFinishes()
        guard case .missing(let failure)? = script.lookup("a") else {
            Issue.record("a directory is not missing")
            return
        }
        #expect(failure?.kind == .obstructed)
    }

    @Test func probesAPublicationMadeByRenaming() {
        // publish:  renames NAME.part to K
        // stranger: renames another file to K; the kernel merges the two events into one
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        script.see(["appeared"], of: key)
        _ = script.published("a")
        #expect(script.lookup("a") == nil)
    }

    @Test func anImageIsNotCachedBeforeItsPublicationIsDurable() {
        // publish: renames K; its directory is not synced yet
        // status:  sees that K appeared, probes it: a whole file → cached, if believed
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        let publishing = Lookup.inFlight(.init(phase: .publishing, received: 1000, total: 1000))
        _ = script.changes(.appeared(key))
        #expect(script.lookup("a") == publishing)
        let start = script.state.disk.beginProbe()
        #expect(script.looksAt("a", .entry(Sample.facts())) == publishing)
        script.scans([.entry(key, .entry(Sample.facts()))], since: start)
        #expect(!script.holds("a"))
    }

    @Test func forgetsAPartialThatBecameAnEntryDuringTheScan() {
        // scan:    probes K.part, which is to be published
        // publish: renames it to K
        // scan:    reports K.part → bytes counted forever, if the state believed it
        let key = script.key("a")
        script.caller("one", wants: "a")
        let start = script.state.disk.beginProbe()
        _ = script.finishes("a")
        _ = script.published("a")
        let held = script.state.disk.bytesUsed
        script.scans([.partial(key, 8192)], since: start)
        #expect(script.state.disk.bytesUsed == held)
        #expect(script.state.disk.space.partials.dirtyNames == [key])
        script.state.disk.partialProbed(key, nil)
        #expect(script.state.disk.bytesUsed == held)
    }

    @Test(arguments: [true, false])
    func forgetsAPartialThatBecameAnEntryDuringItsProbe(isTold: Bool) {
        // maintenance: probes K.part, which is to be published
        // publish:     renames it to K
        // maintenance: reports K.part → bytes counted forever, if the state believed it
        let key = script.key("a")
        script.caller("one", wants: "a")
        _ = script.changes(.partialChanged(key))
        let start = script.state.disk.space.partials.beginProbe()
        _ = script.finishes("a")
        _ = script.published("a")
        let held = script.state.disk.bytesUsed
        if isTold { _ = script.changes(.partialVanished(key)) }
        script.state.disk.partialProbed(key, 8192, since: start)
        #expect(script.state.disk.bytesUsed == held)
        #expect(script.state.disk.space.partials.count == 0)
    }

    /// The download reserved no space, so no other event subtracts the bytes of its partial.
    @Test func probesForAWholePartialOnceItIsAnEntry() {
        let key = script.key("a")
        script.state.disk.partialProbed(key, 8192)
        script.caller("one", wants: "a")
        _ = script.finishes("a")
        _ = script.changes(.partialVanished(key))
        _ = script.published("a")
        #expect(script.state.disk.space.partials.dirtyNames == [key])
    }

    @Test func aProbeIsNotAUse() {
        script.has("a")
        script.has("b")
        _ = script.looksAt("a", .entry(Sample.facts(size: 7, lastUsedAt: 1_800_000_000)))
        #expect(script.lookup("a") == .cached(Sample.facts(size: 7)))
        #expect(script.order == [script.key("b"), script.key("a")])
    }

    @Test func aScanDropsResultsForNamesThatChangedDuringIt() {
        // scan:   probes K: a whole file
        // anyone: removes K
        // scan:   reports K as an entry          → a ghost entry, if the state believed it
        let key = script.key("a")
        script.state.disk.validity = .loading
        let start = script.state.disk.beginProbe()
        _ = script.changes(.vanished(key))
        script.scans([.entry(key, .entry(Sample.facts()))], since: start)
        #expect(!script.holds("a"))
        // The next probe is believed again.
        let next = script.state.disk.beginProbe()
        script.scans([.entry(key, .entry(Sample.facts()))], since: next)
        #expect(script.lookup("a") == .cached(Sample.facts()))
    }

    @Test(arguments: [false, true])
    func dropsAProbeThatAChangeOvertook(isGone: Bool) {
        // status: probes K: a whole file
        // anyone: removes K, or puts another file there
        // status: reports what it saw            → a ghost entry, if the state believed it
        let key = script.key("a")
        script.has("a")
        _ = script.changes(.appeared(key))
        let start = script.state.disk.beginProbe()
        _ = script.changes(isGone ? .vanished(key) : .appeared(key))
        let seen = script.state.run {
            $0.probed(key, .entry(Sample.facts()), since: start, now: FileTime(Sample.now), &$1)
        }
        #expect(seen.answer == nil)
        #expect(script.lookup("a") == (isGone ? .missing(nil) : nil))
    }

    @Test func dropsAProbeThatBeganBeforeDamageWasFound() {
        let key = script.key("a")
        script.has("a")
        let start = script.state.disk.beginProbe()
        _ = script.event { $0.damageFound(key, &$1) }
        let seen = script.state.run {
            $0.probed(key, .entry(Sample.facts()), since: start, now: FileTime(Sample.now), &$1)
        }
        #expect(seen.answer == nil)
        #expect(script.lookup("a") == nil)
    }

    @Test func probesChangedNamesDuringTheScan() {
        script.has("a")
        script.state.disk.validity = .loading
        _ = script.changes(.appeared(script.key("a")))
        #expect(script.lookup("a") == nil)
    }

    /// Partials can vanish unnoticed while changes are lost. Only a probe corrects the ledger.
    @Test func probesForPartialsOnceChangesWereLost() {
        script.state.disk.partialProbed(script.key("a"), 8192)
        _ = script.changes(.overflowed)
        script.state.disk.scanBegan()
        #expect(script.scanFinishes())
        #expect(script.state.disk.space.partials.dirtyNames == [script.key("a")])
    }

    @Test func probesNamesThatTheScanCouldNotSee() {
        let key = script.key("a")
        script.state.disk.validity = .loading
        script.state.disk.scanBegan()
        let start = script.state.disk.beginProbe()
        script.scans([.unreadable(.entry(key)), .unreadable(.partial(key))], since: start)
        #expect(script.scanFinishes())
        #expect(script.lookup("a") == nil)
        #expect(script.state.disk.space.partials.dirtyNames == [key])
    }

    @Test func duringTheScanOnlyKnownEntriesAreAnsweredFromMemory() {
        script.has("a")
        script.state.disk.validity = .loading
        #expect(script.lookup("a") == .cached(Sample.facts()))
        #expect(script.lookup("b") == nil)
        #expect(script.scanFinishes())
        #expect(script.lookup("b") == .missing(nil))
    }

    @Test func lostChangesLeadToOneNewScan() {
        script.has("a")
        #expect(script.changes(.overflowed) == ["scan"])
        #expect(script.lookup("a") == nil)
        #expect(script.changes(.overflowed) == [])
        script.state.disk.scanBegan()
        #expect(script.scanFinishes())
        #expect(script.lookup("a") == .cached(Sample.facts()))
    }

    @Test func changesLostDuringAScanRepeatIt() {
        script.state.disk.validity = .loading
        script.state.disk.scanBegan()
        #expect(script.changes(.overflowed) == [])
        #expect(!script.scanFinishes())
        #expect(script.lookup("a") == nil)
        script.state.disk.scanBegan()
        #expect(script.scanFinishes())
        #expect(script.lookup("a") == .missing(nil))
    }

    @Test func withoutAWatchEveryNameIsProbedEveryTime() {
        script.state.disk.validity = .loading
        script.state.disk.scanBegan()
        #expect(script.scanFinishes(isWatched: false))
        #expect(script.lookup("a") == nil)
    }

    @Test func aScanSortsByUseAndKeepsNewerUses() {
        script.state.disk.validity = .loading
        let times: [(String, UInt32)] = [("a", 10), ("b", 30), ("c", 20)]
        let start = script.state.disk.beginProbe()
        script.scans(
            times.map {
                .entry(script.key($0.0), .entry(Sample.facts(lastUsedAt: $0.1)))
            }, since: start)
        _ = script.want("a", by: nil)
        let sorted = [("b", 30), ("c", 20), ("a", 10)] as [(String, UInt32)]
        let stretch = sorted.map {
            Use(time: FileTime(UnixTime(rawValue: $0.1)), key: script.key($0.0))
        }
        script.state.disk.sort(stretch[...])
        #expect(script.order == ["a", "b", "c"].map(script.key))
    }

    @Test func observedChangesWakeTheObserverOnceUntilTaken() {
        script.has("a")
        script.has("b")
        #expect(script.changes(.vanished(script.key("a"))) == [])
        script.has("a")
        script.state.fetching.changes.isObserved = true
        #expect(script.changes(.vanished(script.key("a"))) == ["announce"])
        #expect(script.changes(.vanished(script.key("b"))) == [])
        #expect(script.takesChanges() == [script.key("a"), script.key("b")])
        script.has("a")
        _ = script.takesChanges()
        script.has("b")
        script.state.fetching.changes.isObserved = false
        script.state.fetching.changes.isObserved = true
        #expect(script.changes(.vanished(script.key("a"))) == ["announce"])
    }
}

extension StateScript {
    /// The watch reports a name.
    fileprivate func see(_ events: [String], of key: CacheKey) {
        let known: [String: DirectoryChange] = [
            "created": .created(key), "appeared": .appeared(key), "vanished": .vanished(key),
            "partialChanged": .partialChanged(key),
        ]
        for event in events {
            guard let change = known[event] else { preconditionFailure("no event \(event)") }
            _ = changes(change)
        }
    }
}
