import CacheKey
import CacheSamples
import Testing

@testable import CacheDisk
@testable import CacheFetching

@Suite("Change epochs", .timeLimit(.minutes(5)))
struct ChangeEpochsTests {
    let key = Sample.key("a")

    @Test func aProbeIsStaleAfterAChangeDuringIt() {
        var epochs = ChangeEpochs()
        let first = epochs.begin()
        #expect(epochs.isCurrent(key, since: first))
        epochs.note(key)
        #expect(!epochs.isCurrent(key, since: first))
        #expect(epochs.isCurrent(Sample.key("b"), since: first))
        epochs.end()
        let second = epochs.begin()
        #expect(epochs.isCurrent(key, since: second))
    }

    @Test func aProbeIsCurrentAfterAnEarlierChange() {
        var epochs = ChangeEpochs()
        epochs.note(key)
        let start = epochs.begin()
        #expect(epochs.isCurrent(key, since: start))
    }

    @Test func aChangeIsKeptUntilAllOverlappingProbesEnd() {
        var epochs = ChangeEpochs()
        let first = epochs.begin()
        let second = epochs.begin()
        epochs.note(key)
        // A probe that begins now sees the current file, even while older probes run.
        let third = epochs.begin()
        #expect(epochs.isCurrent(key, since: third))
        epochs.end()
        #expect(!epochs.isCurrent(key, since: first))
        #expect(!epochs.isCurrent(key, since: second))
        epochs.end()
        epochs.end()
        let fourth = epochs.begin()
        #expect(epochs.isCurrent(key, since: fourth))
    }
}
