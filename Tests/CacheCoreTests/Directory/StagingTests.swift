import CLinux
import CacheKey
import CacheSamples
import CacheValues
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

@Suite("Staging", .timeLimit(.minutes(5)))
struct StagingTests {
    @Test func aSymbolicLinkIsNeverWrittenThrough() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let target = try TemporaryDirectory(in: scope).write("precious", to: "target")
            #expect(symlink(target, folder.partial("a")) == 0)
            let image = try folder.stage("a")
            #expect(try contents(of: target) == Array("precious".utf8))
            #expect(try contents(of: folder.partial("a")) == Sample.bytes("a"))
            _ = image
        }
    }

    @Test func aPartialWithAnotherNameIsNotWrittenTo() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let kept = folder.path + "/kept"
            try folder.write("old bytes", to: kept)
            #expect(link(kept, folder.partial("a")) == 0)
            _ = try folder.stage("a")
            #expect(try contents(of: kept) == Array("old bytes".utf8))
        }
    }

    @Test func aFIFODoesNotBlock() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(mkfifo(folder.partial("a"), 0o600) == 0)
            _ = try folder.stage("a")
            #expect(try contents(of: folder.partial("a")) == Sample.bytes("a"))
        }
    }

    @Test func aPartialOutlivesItsDownload() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.stage("a")
            #expect(folder.status(folder.partial("a"))?.st_size == 5)
            try folder.directory.discardPartial(of: Sample.key("a"))
            try folder.directory.discardPartial(of: Sample.key("a"))
            #expect(try folder.names() == [])
        }
    }

    @Test(arguments: [SyscallName.openat, .fstat, .fchmod, .write, .unlinkat])
    func aFailedCallIsReported(call: SyscallName) async throws {
        let usual = umask(0o077)
        defer { umask(usual) }
        try await withTestScope { scope in
            // Opening the directory opens four files, makes one, reads the status of one, writes two texts, and
            // removes the name that it has tried.
            let before: [SyscallName: Int] = [.openat: 5, .fstat: 1, .write: 2, .unlinkat: 1]
            let plan = FaultPlan(call, nth: 1 + (before[call] ?? 0), .ioError)
            let folder = try CacheFolder(in: scope, faults: plan)
            // The existing file has to be unlinked first.
            if call == .unlinkat { try folder.write("old", to: folder.partial("a")) }
            #expect(throws: (any Error).self) { _ = try folder.stage("a") }
            #expect(plan.hasStruck)
        }
    }

    @Test(arguments: [0o022, 0o077, 0o000])
    func everyoneCanReadAPartialWhateverTheUmask(mask: mode_t) async throws {
        let usual = umask(mask)
        defer { umask(usual) }
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.stage("a")
            #expect(folder.status(folder.partial("a")).map { $0.st_mode & 0o7777 } == 0o644)
        }
    }

    @Test func unlinkingAMissingFileSucceeds() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            try folder.directory.unlink(Sample.key("a"))
            try folder.directory.unlink(Sample.key("a"))
            #expect(try folder.probe("a") == .absent)
        }
    }
}
