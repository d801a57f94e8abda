import CLinux
import CacheKey
import CacheSamples
import CacheValues
import Glibc
import HTTPCaching
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// The attributes of an entry: their place, and which of them are written again.
@Suite("Records", .timeLimit(.minutes(5)))
struct RecordTests {
    private static let attribute = EntryRecord.attributeName(of: Sample.key("a"))

    private func digest(_ folder: CacheFolder) throws -> String? {
        try folder.directory.digest(of: Sample.key("a"))?.description
    }

    @Test func newValidatorsKeepTheDigest() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            let file = open(folder.file("a"), O_RDONLY)
            defer { close(file) }
            let new = Validators(entityTag: "\"x2\"")
            var record = try #require(folder.directory.entryRecord(of: Sample.key("a")))
            record.validators = new
            try folder.directory.records.write(
                record, of: Sample.key("a"), file, withValidators: true)
            #expect(folder.validators("a")?.validators == new)
            let digest = ContentDigest(of: Sample.bytes("a"))
            #expect(folder.validators("a")?.digest == digest.description)
        }
    }

    /// The validators are as good as none if a bit of them has flipped, and the entry stays one.
    @Test func damagedValidatorsAreNotSent() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            let name = ValidatorRecord.attributeName(of: Sample.key("a"))
            let text = try #require(folder.attribute(name, of: folder.file("a")))
            try folder.setAttribute(
                name, text.replacing("x1", with: "x2"), of: folder.file("a"))
            let record = folder.directory.entryRecord(of: Sample.key("a"))
            #expect(record?.validators == Validators())
            #expect(try digest(folder) == nil)
        }
    }

    /// One attribute for a scan, however many an entry has.
    @Test func aProbeReadsOneAttribute() async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.getxattr, nth: .max, .ioError)
            let folder = try CacheFolder(in: scope, faults: plan)
            _ = try folder.publish("a")
            let before = plan.seen
            _ = try folder.probe("a")
            #expect(plan.seen == before + 1)
        }
    }

    /// On ext4 the record of an entry needs no block of its own, and so a scan reads none.
    @Test(.enabled(if: LoopFileSystem.obstacle == nil, "\(LoopFileSystem.obstacle ?? "")"))
    func theRecordLiesInTheInode() async throws {
        try await withTestScope { scope in
            let disk = try await LoopFileSystem(bytes: 32 << 20, in: scope)
            let folder = try CacheFolder(at: disk.path + "/cache")
            let file = folder.file("a")
            try folder.write("", to: file)
            try folder.setAttribute(Self.attribute, Sample.record(size: 5).bytes, of: file)
            #expect(folder.status(file)?.st_blocks == 0)
            // The others have a block, and leave the record where it is.
            unlink(file)
            _ = try folder.publish("a")
            #expect(folder.status(file)?.st_blocks == 16)
            for name in [EntryAttributes.url, EntryAttributes.mediaType] {
                #expect(removexattr(file, name) == 0)
            }
            #expect(removexattr(file, ValidatorRecord.attributeName(of: Sample.key("a"))) == 0)
            #expect(folder.status(file)?.st_blocks == 8)
            guard case .entry = try folder.probe("a") else {
                Issue.record("the record is gone")
                return
            }
        }
    }
}
