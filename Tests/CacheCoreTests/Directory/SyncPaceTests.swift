import Testing

@testable import CacheCore

@Suite("How a batch is synced") struct SyncPaceTests {
    @Test func fewFilesAreSyncedOneByOneAndManyTogether() {
        var pace = SyncPace()
        #expect(pace.choose(files: 1) == .eachFile)
        #expect(pace.choose(files: SyncPace.manyFiles - 1) == .eachFile)
        #expect(pace.choose(files: SyncPace.manyFiles) == .fileSystem)
    }

    @Test func aSyncHeldUpByOthersIsNotTriedAgainForAWhile() {
        var pace = SyncPace()
        pace.took(.seconds(2), .fileSystem, files: 100)
        for _ in 0..<SyncPace.restraint { #expect(pace.choose(files: 100) == .eachFile) }
        #expect(pace.choose(files: 100) == .fileSystem)
    }

    @Test func aSlowDiskAloneIsNoReason() {
        var pace = SyncPace()
        pace.took(.seconds(2), .eachFile, files: 100)
        pace.took(SyncPace.patience(files: 100), .fileSystem, files: 100)
        #expect(pace.choose(files: 100) == .fileSystem)
    }
}
