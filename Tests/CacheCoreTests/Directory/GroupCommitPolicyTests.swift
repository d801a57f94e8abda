import Testing

@testable import CacheCore
@testable import CacheModel

@Suite("How a batch is synced") struct GroupCommitPolicyTests {
    @Test func fewFilesAreSyncedOneByOneAndManyTogether() {
        var pace = GroupCommitPolicy()
        #expect(pace.choose(files: 1, now: .now) == .eachFile)
        #expect(pace.choose(files: GroupCommitPolicy.manyFiles - 1, now: .now) == .eachFile)
        #expect(pace.choose(files: GroupCommitPolicy.manyFiles, now: .now) == .fileSystem)
    }

    @Test func aSyncHeldUpByOthersIsNotTriedAgainForAWhile() {
        var pace = GroupCommitPolicy()
        pace.took(.seconds(2), .fileSystem, files: 100)
        for _ in 0..<GroupCommitPolicy.restraint {
            #expect(pace.choose(files: 100, now: .now) == .eachFile)
        }
        #expect(pace.choose(files: 100, now: .now) == .fileSystem)
    }

    @Test func aSlowDiskAloneIsNoReason() {
        var pace = GroupCommitPolicy()
        pace.took(.seconds(2), .eachFile, files: 100)
        pace.took(GroupCommitPolicy.patience(files: 100), .fileSystem, files: 100)
        #expect(pace.choose(files: 100, now: .now) == .fileSystem)
    }

    @Test func filesGatherUntilACommitIsDueButNobodyWaitsAlone() {
        let start = ContinuousClock.now
        var pace = GroupCommitPolicy()
        #expect(pace.gathersUntil(files: 5, now: start) == nil, "none was begun yet")
        _ = pace.choose(files: 5, now: start)
        let soon = start + .milliseconds(1)
        #expect(pace.gathersUntil(files: 1, now: soon) == nil)
        #expect(pace.gathersUntil(files: 2, now: soon) == start + GroupCommitPolicy.interval)
        #expect(pace.gathersUntil(files: 2, now: start + GroupCommitPolicy.interval) == nil)
    }

    @Test func aCommitOfManyMayBeginSoLongAfterTheLast() {
        let start = ContinuousClock.now
        var pace = GroupCommitPolicy()
        func mayBegin(_ files: Int, at time: ContinuousClock.Instant) -> Bool {
            pace.mayBegin(files: files, awaited: nil, at: time)
        }
        #expect(mayBegin(100, at: start), "none was begun yet")
        _ = pace.choose(files: 100, now: start)
        #expect(!mayBegin(100, at: start + GroupCommitPolicy.interval - .nanoseconds(1)))
        #expect(mayBegin(100, at: start + GroupCommitPolicy.interval))
        #expect(!mayBegin(GroupCommitPolicy.manyFiles - 1, at: start + GroupCommitPolicy.interval))
    }

    @Test func whatSomebodyWaitsForIsCommittedByHalves() {
        let start = ContinuousClock.now
        var pace = GroupCommitPolicy()
        _ = pace.choose(files: 100, now: start)
        #expect(!pace.mayBegin(files: 100, awaited: 101, at: start))
        #expect(pace.mayBegin(files: 100, awaited: 100, at: start))
        #expect(!pace.mayBegin(files: GroupCommitPolicy.manyFiles - 1, awaited: 0, at: start))
        #expect(pace.mayBegin(files: 100, awaited: 101, at: start + GroupCommitPolicy.interval))
    }

    @Test func theNextCommitIsExpectedWhereManyFollowOneAnother() {
        let start = ContinuousClock.now
        var pace = GroupCommitPolicy()
        #expect(pace.next(after: start) == nil, "it is the first")
        _ = pace.choose(files: 100, now: start)
        let soon = start + GroupCommitPolicy.interval
        #expect(pace.next(after: soon) == soon + GroupCommitPolicy.interval)
        #expect(pace.next(after: soon + GroupCommitPolicy.interval) == nil)
    }

    @Test func whereFewFilesComeNobodyWaitsForMoreForAWhile() {
        let start = ContinuousClock.now
        var pace = GroupCommitPolicy()
        _ = pace.choose(files: 5, now: start)
        pace.gathered(files: GroupCommitPolicy.manyFiles)
        #expect(pace.gathersUntil(files: 5, now: start) != nil)
        pace.gathered(files: GroupCommitPolicy.manyFiles - 1)
        for _ in 0..<GroupCommitPolicy.restraint {
            #expect(pace.gathersUntil(files: 5, now: start) == nil)
        }
        #expect(pace.gathersUntil(files: 5, now: start) != nil)
    }
}
