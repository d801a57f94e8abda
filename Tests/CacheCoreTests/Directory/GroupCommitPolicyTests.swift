import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Group commit policy") struct GroupCommitPolicyTests {
    private let many = GroupCommitPolicy.manyFiles

    @Test func fewFilesAreSyncedOneByOneAndManyTogether() {
        var policy = GroupCommitPolicy()
        #expect(policy.startCommit(files: 1, now: .now) == .eachFile)
        #expect(policy.startCommit(files: many - 1, now: .now) == .eachFile)
        #expect(policy.startCommit(files: many, now: .now) == .fileSystem)
    }

    @Test func aSlowSyncOfTheFileSystemIsNotRepeatedForAWhile() {
        var policy = GroupCommitPolicy()
        policy.committed(files: 100, .fileSystem, in: .seconds(2))
        for _ in 0..<GroupCommitPolicy.restraint {
            #expect(policy.startCommit(files: 100, now: .now) == .eachFile)
        }
        #expect(policy.startCommit(files: 100, now: .now) == .fileSystem)
    }

    @Test func aSlowDiskAloneDoesNotChangeTheMethod() {
        var policy = GroupCommitPolicy()
        policy.committed(files: 100, .eachFile, in: .seconds(2))
        policy.committed(
            files: 100, .fileSystem, in: GroupCommitPolicy.longestSync(files: 100))
        #expect(policy.startCommit(files: 100, now: .now) == .fileSystem)
    }

    @Test func severalImagesGatherUntilACommitIsDueButALoneImageDoesNotWait() {
        let start = ContinuousClock.now
        var policy = GroupCommitPolicy()
        #expect(policy.gatheringEnd(files: 5, now: start) == nil, "there was no commit yet")
        _ = policy.startCommit(files: 5, now: start)
        let soon = start + .milliseconds(1)
        let due = start + GroupCommitPolicy.interval
        #expect(policy.gatheringEnd(files: 1, now: soon) == nil)
        #expect(policy.gatheringEnd(files: 2, now: soon) == due)
        #expect(policy.gatheringEnd(files: 2, now: due) == nil)
    }

    @Test func afterAWaitThatBroughtFewImagesNoBatchWaitsForAWhile() {
        let start = ContinuousClock.now
        var policy = GroupCommitPolicy()
        _ = policy.startCommit(files: 5, now: start)
        policy.gathered(files: many)
        #expect(policy.gatheringEnd(files: 5, now: start) != nil)
        policy.gathered(files: many - 1)
        for _ in 0..<GroupCommitPolicy.restraint {
            #expect(policy.gatheringEnd(files: 5, now: start) == nil)
        }
        #expect(policy.gatheringEnd(files: 5, now: start) != nil)
    }
}
