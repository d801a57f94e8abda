import Testing

@testable import CacheCore

@Suite("How a batch is synced") struct SyncPaceTests {
    @Test func fewFilesAreSyncedOneByOneAndManyTogether() {
        var pace = SyncPace()
        #expect(pace.choose(files: 1, now: .now) == .eachFile)
        #expect(pace.choose(files: SyncPace.manyFiles - 1, now: .now) == .eachFile)
        #expect(pace.choose(files: SyncPace.manyFiles, now: .now) == .fileSystem)
    }

    @Test func aSyncHeldUpByOthersIsNotTriedAgainForAWhile() {
        var pace = SyncPace()
        pace.took(.seconds(2), .fileSystem, files: 100)
        for _ in 0..<SyncPace.restraint { #expect(pace.choose(files: 100, now: .now) == .eachFile) }
        #expect(pace.choose(files: 100, now: .now) == .fileSystem)
    }

    @Test func aSlowDiskAloneIsNoReason() {
        var pace = SyncPace()
        pace.took(.seconds(2), .eachFile, files: 100)
        pace.took(SyncPace.patience(files: 100), .fileSystem, files: 100)
        #expect(pace.choose(files: 100, now: .now) == .fileSystem)
    }

    @Test func filesGatherUntilACommitIsDueButNobodyWaitsAlone() {
        let start = ContinuousClock.now
        var pace = SyncPace()
        #expect(pace.gathersUntil(files: 5, now: start) == nil, "none was begun yet")
        _ = pace.choose(files: 5, now: start)
        let soon = start + .milliseconds(1)
        #expect(pace.gathersUntil(files: 1, now: soon) == nil)
        #expect(pace.gathersUntil(files: 2, now: soon) == start + SyncPace.interval)
        #expect(pace.gathersUntil(files: 2, now: start + SyncPace.interval) == nil)
    }

    @Test func aCommitOfManyMayBeginSoLongAfterTheLast() {
        let start = ContinuousClock.now
        var pace = SyncPace()
        func mayBegin(_ files: Int, at time: ContinuousClock.Instant) -> Bool {
            pace.mayBegin(files: files, awaited: nil, at: time)
        }
        #expect(mayBegin(100, at: start), "none was begun yet")
        _ = pace.choose(files: 100, now: start)
        #expect(!mayBegin(100, at: start + SyncPace.interval - .nanoseconds(1)))
        #expect(mayBegin(100, at: start + SyncPace.interval))
        #expect(!mayBegin(SyncPace.manyFiles - 1, at: start + SyncPace.interval))
    }

    @Test func whatSomebodyWaitsForIsCommittedByHalves() {
        let start = ContinuousClock.now
        var pace = SyncPace()
        _ = pace.choose(files: 100, now: start)
        #expect(!pace.mayBegin(files: 100, awaited: 101, at: start))
        #expect(pace.mayBegin(files: 100, awaited: 100, at: start))
        #expect(!pace.mayBegin(files: SyncPace.manyFiles - 1, awaited: 0, at: start))
        #expect(pace.mayBegin(files: 100, awaited: 101, at: start + SyncPace.interval))
    }

    @Test func theNextCommitIsExpectedWhereManyFollowOneAnother() {
        let start = ContinuousClock.now
        var pace = SyncPace()
        #expect(pace.next(after: start) == nil, "it is the first")
        _ = pace.choose(files: 100, now: start)
        let soon = start + SyncPace.interval
        #expect(pace.next(after: soon) == soon + SyncPace.interval)
        #expect(pace.next(after: soon + SyncPace.interval) == nil)
    }

    @Test func whereFewFilesComeNobodyWaitsForMoreForAWhile() {
        let start = ContinuousClock.now
        var pace = SyncPace()
        _ = pace.choose(files: 5, now: start)
        pace.gathered(files: SyncPace.manyFiles)
        #expect(pace.gathersUntil(files: 5, now: start) != nil)
        pace.gathered(files: SyncPace.manyFiles - 1)
        for _ in 0..<SyncPace.restraint { #expect(pace.gathersUntil(files: 5, now: start) == nil) }
        #expect(pace.gathersUntil(files: 5, now: start) != nil)
    }
}
