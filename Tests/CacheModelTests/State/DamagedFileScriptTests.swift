import CacheKey
import CacheValues
import Testing

@testable import CacheModel

private let block: Int64 = 4096

/// Damaged files in the ledger: counted, evicted first, and gone once their images are back.
@Suite("State: damaged files", .timeLimit(.minutes(5)))
struct DamagedFileScriptTests {
    let script = StateScript(bytes: 20 * block)

    private func damages(_ images: String..., blocks: Int64, isPinned: Bool = false) {
        for image in images {
            script.state.damagedProbed(
                script.key(image), DamagedFile(allocated: blocks * block, isPinned: isPinned))
        }
    }

    @Test func countsTheirBytes() {
        damages("a", blocks: 3)
        damages("b", blocks: 2, isPinned: true)
        #expect(script.state.bytesUsed == 5 * block)
        script.state.damagedProbed(script.key("a"), nil)
        #expect(script.state.bytesUsed == 2 * block)
    }

    @Test func evictsThemBeforeTheOldestEntry() {
        script.has("old", "new", allocated: 4 * block)
        damages("x", blocks: 4)
        #expect(script.evicts(EvictionGoal(bytes: 8 * block)) == ["damaged x"])
        #expect(script.evicts(EvictionGoal(bytes: 4 * block)) == ["old"])
    }

    @Test func aDownloadThatNeedsBytesEvictsThemFirst() {
        script.has("old", allocated: 10 * block)
        damages("x", blocks: 8)
        #expect(script.begins("a", 6 * block) == ["granted 24576", "without damaged x"])
        #expect(script.holds("old"))
    }

    @Test func tooManyEntriesAreNoReasonToEvictThem() {
        for number in 0..<20 { script.has("\(number)", allocated: 512) }
        damages("x", blocks: 2)
        _ = script.limits { $0.maximumEntries = 19 }
        let goal = EvictionGoal(bytes: 18 * block, entries: 18)
        #expect(script.evicts(goal, isOwn: true) == ["0", "1"])
    }

    @Test func thoseWithAPinStayAndAreNoRoom() {
        damages("x", blocks: 12, isPinned: true)
        #expect(script.evicts(EvictionGoal(bytes: 0)) == [])
        #expect(script.begins("a", 12 * block) == ["refused: noRoom"])
        _ = script.event { state, effects in
            state.pinned(script.key("x"), false, &effects)
        }
        #expect(script.state.space.damaged.files.dirtyNames == [script.key("x")])
        damages("x", blocks: 12)
        #expect(script.evicts(EvictionGoal(bytes: 0)) == ["damaged x"])
    }

    @Test func thePublishedImageReplacesIt() {
        damages("a", blocks: 3, isPinned: true)
        _ = script.begins("a", 3 * block)
        _ = script.finishes("a")
        #expect(script.published("a").contains("unlink damaged a"))
        _ = script.loses("damaged a")
        #expect(script.state.bytesUsed == 4096)
    }

    /// The file was set aside just now, and nobody has looked at it yet.
    @Test func oneThatWasNotProbedYetIsReplacedToo() {
        script.has("a", allocated: block)
        _ = script.event { $0.damageFound(script.key("a"), &$1) }
        _ = script.begins("a", block)
        _ = script.finishes("a")
        #expect(script.published("a").contains("unlink damaged a"))
    }

    @Test func oneThatCannotBeUnlinkedIsSkippedUntilItChanges() {
        script.has("old", allocated: 4 * block)
        damages("x", blocks: 4)
        #expect(script.evicts(EvictionGoal(bytes: 4 * block)) == ["damaged x"])
        _ = script.keeps("damaged x")
        damages("x", blocks: 4)
        #expect(script.evicts(EvictionGoal(bytes: 4 * block)) == ["old"])
        _ = script.changes(.damagedChanged(script.key("x")))
        damages("x", blocks: 4)
        #expect(script.evicts(EvictionGoal(bytes: 0)) == ["damaged x"])
    }

    @Test func aRemovalOfAllSparesPins() {
        damages("x", blocks: 1)
        damages("y", blocks: 1, isPinned: true)
        #expect(script.removes("x", sparesPinned: true).contains("unlink damaged x"))
        #expect(!script.removes("y", sparesPinned: true).contains("unlink damaged y"))
        #expect(script.removes("y").contains("unlink damaged y"))
    }

    @Test func expiresUnlessItHoldsThePinOfAnAbsentImage() {
        damages("x", blocks: 1)
        damages("y", "z", blocks: 1, isPinned: true)
        script.has("z", allocated: block)
        damages("z", blocks: 1, isPinned: true)
        for (image, expected) in [
            ("x", ["unlink damaged x"]), ("y", []), ("z", ["unlink damaged z"]),
        ] {
            #expect(script.event { $0.damagedExpired(script.key(image), &$1) } == expected)
        }
    }

    @Test func aScanFindsThem() {
        let start = script.state.catalog.beginProbe()
        let file = DamagedFile(allocated: 3 * block, isPinned: false)
        script.scans([.damaged(script.key("x"), file)], since: start)
        #expect(script.state.bytesUsed == 3 * block)
    }
}
