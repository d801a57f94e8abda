import CacheSamples
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Which file systems have files without a name for images, and which have partials.
@Suite("Files without a name", .serialized, .timeLimit(.minutes(5)))
struct UnnamedTests {
    private static let obstacle = LoopFileSystem.obstacle

    /// Without a journal, a power cut leaves the inode of a file that was just named as that of a deleted file.
    @Test(.enabled(if: obstacle == nil, "\(obstacle ?? "")"), arguments: [true, false])
    func ext4MustHaveAJournal(hasJournal: Bool) async throws {
        try await withTestScope { scope in
            let disk = try await LoopFileSystem(
                bytes: 16 << 20, hasJournal: hasJournal, in: scope)
            let folder = try CacheFolder(at: disk.path + "/cache")
            #expect(folder.directory.makesUnnamedFiles == hasJournal)
            #expect(folder.directory.publish([folder.held("a")], now: .now).first?.failure == nil)
            #expect(try folder.names() == ["\(Sample.key("a"))"])
        }
    }

    @Test(arguments: [SyscallName.openat, .linkat, .unlinkat, .statfs])
    func filesHaveNamesIfTheTrialFails(call: SyscallName) async throws {
        try await withTestScope { scope in
            // Opening the directory opens four files before the trial.
            let plan = FaultPlan(call, nth: call == .openat ? 5 : 1, .notPermitted)
            let folder = try CacheFolder(inMemory: scope, faults: plan)
            #expect(plan.hasStruck)
            #expect(!folder.directory.makesUnnamedFiles)
            #expect(folder.directory.publish([folder.held("a")], now: .now).first?.failure == nil)
        }
    }

    /// A daemon that is killed during the trial leaves the name.
    @Test func theTrialLeavesNoNameAndAcceptsALeftoverOne() async throws {
        try await withTestScope { scope in
            let path = try TemporaryDirectory(inMemory: scope).directory("cache")
            let name = "00000000-0000-5000-8000-000000000000.part"
            try writeFile([1], to: "\(path)/\(name)")
            let folder = try CacheFolder(at: path)
            #expect(folder.directory.makesUnnamedFiles)
            #expect(try folder.names() == [])
        }
    }
}
