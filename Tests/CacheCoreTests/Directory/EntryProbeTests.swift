import CLinux
import CacheKey
import CacheSamples
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// The design's table "What lies under a name".
@Suite("Entry probe", .timeLimit(.minutes(5)))
struct EntryProbeTests {
    @Test(arguments: [false, true])
    func aFileOfTheCacheIsAnEntry(inMemory: Bool) async throws {
        try await withTestScope { scope in
            let folder = try inMemory ? CacheFolder(inMemory: scope) : CacheFolder(in: scope)
            let published = try #require(folder.publishAlone([try folder.stage("a")]).first)
            guard case .entry(let seen) = try folder.probe("a") else {
                Issue.record("a published file is no entry")
                return
            }
            var facts = try published.result.get()
            facts.lastUsedAt = seen.lastUsedAt
            // As another daemon would find it now.
            facts.awaitsAttributes = true
            #expect(seen == facts)
        }
    }

    @Test func nothingIsAbsent() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(try folder.probe("a") == .absent)
            _ = try folder.stage("a")
            #expect(try folder.probe("a") == .absent)
        }
    }

    @Test func aCopyWithoutAttributesIsUnusable() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try folder.write("image", to: folder.file("a"))
            #expect(try folder.probe("a") == .unusable)
        }
    }

    @Test(
        arguments: ["v1 size=5", "v0 size=5", "", "size=5", "v1", "v1 size=x", "v2"].map {
            Array($0.utf8)
        } + [Sample.record(size: 6).bytes, Sample.record(size: 5).bytes.dropLast()])
    func aFileWithAWrongRecordIsUnusable(record: [UInt8]) async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try folder.write("image", to: folder.file("a"))
            try folder.setAttribute(
                EntryRecord.attributeName(of: Sample.key("a")), record, of: folder.file("a"))
            #expect(try folder.probe("a") == .unusable)
        }
    }

    @Test func aFileWithTheRecordOfAnotherNameIsUnusable() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            #expect(rename(folder.file("a"), folder.file("b")) == 0)
            #expect(try folder.probe("b") == .unusable)
        }
    }

    @Test func anEmptyFileIsUnusableWhateverItsRecordSays() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try folder.write("", to: folder.file("a"))
            try folder.setAttribute(
                EntryRecord.attributeName(of: Sample.key("a")), Sample.record(size: 0).bytes,
                of: folder.file("a"))
            #expect(try folder.probe("a") == .unusable)
        }
    }

    @Test func aTruncatedEntryIsUnusable() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            #expect(truncate(folder.file("a"), 3) == 0)
            #expect(try folder.probe("a") == .unusable)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
    func aFileOfAnotherUserIsUnusable() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            #expect(chown(folder.file("a"), 65534, 65534) == 0)
            #expect(try folder.probe("a") == .unusable)
        }
    }

    @Test func aSymbolicLinkIsUnusableEvenToAnEntry() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            #expect(symlink(folder.file("a"), folder.file("b")) == 0)
            #expect(try folder.probe("b") == .unusable)
            #expect(symlink("nowhere", folder.file("c")) == 0)
            #expect(try folder.probe("c") == .unusable)
        }
    }

    @Test func aFIFOIsUnusableAndDoesNotBlock() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(mkfifo(folder.file("a"), 0o600) == 0)
            #expect(try folder.probe("a") == .unusable)
        }
    }

    @Test func aSocketIsUnusable() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(mknod(folder.file("a"), S_IFSOCK | 0o600, 0) == 0)
            #expect(try folder.probe("a") == .unusable)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root makes devices"))
    func aDeviceIsUnusable() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            // The null device: 1, 3.
            guard mknod(folder.file("a"), S_IFCHR | 0o600, 0x103) == 0 else { return }
            #expect(try folder.probe("a") == .unusable)
        }
    }

    @Test func aDirectoryObstructs() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(mkdir(folder.file("a"), 0o700) == 0)
            #expect(try folder.probe("a") == .obstructed)
        }
    }

    @Test func probingDoesNotCountAsAUse() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            let before = try #require(folder.status(folder.file("a"))).st_atim
            _ = try folder.probe("a")
            _ = try folder.directory.url(of: Sample.key("a"))
            let after = try #require(folder.status(folder.file("a"))).st_atim
            #expect(before.tv_sec == after.tv_sec)
            #expect(before.tv_nsec == after.tv_nsec)
        }
    }

    @Test func withoutAttributesAnyFileIsAnEntry() async throws {
        try await withTestScope { scope in
            // The first attribute that is set finds out whether the file system keeps any.
            let folder = try CacheFolder(
                in: scope, faults: FaultPlan(.fsetxattr, nth: 1, .notSupported))
            #expect(folder.directory.records is MemoryRecords)
            try folder.write("a copied image", to: folder.file("a"))
            guard case .entry(let facts) = try folder.probe("a") else {
                Issue.record("it is no entry")
                return
            }
            #expect(facts.size == 14)
            // The record is lost, so the freshness is guessed.
            #expect(facts.freshUntil == facts.fetchedAt + 3600)
            try folder.write("", to: folder.file("b"))
            #expect(try folder.probe("b") == .unusable)
        }
    }

    @Test func aProbeThatFailsThrows() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(
                in: scope, faults: FaultPlan(.fstatat, nth: 1, .ioError))
            #expect(throws: (any Error).self) { _ = try folder.probe("a") }
        }
    }
}
