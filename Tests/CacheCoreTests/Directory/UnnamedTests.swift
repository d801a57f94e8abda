import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

/// Where an image has a file without a name before it is an entry, and where a partial.
@Suite("Files without a name", .serialized, .timeLimit(.minutes(5)))
struct UnnamedTests {
    private static let obstacle = LoopFileSystem.obstacle

    /// After a power cut the inode of one that was just named would be that of a deleted file.
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
    func whatCanNotBeTriedIsNotDone(call: SyscallName) async throws {
        try await withTestScope { scope in
            // Opening the directory opens four files before.
            let plan = FaultPlan(call, nth: call == .openat ? 5 : 1, .notPermitted)
            let folder = try CacheFolder(inMemory: scope, faults: plan)
            #expect(plan.hasStruck)
            #expect(!folder.directory.makesUnnamedFiles)
            #expect(folder.directory.publish([folder.held("a")], now: .now).first?.failure == nil)
        }
    }

    /// A kill in the midst of trying leaves the name.
    @Test func theTrialLeavesNothingAndMindsNothingThatIsLeft() async throws {
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
