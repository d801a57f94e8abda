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
@testable import CacheModel

/// Records of the first version stay entries, and become records of the second when they are written again.
@Suite("Records", .timeLimit(.minutes(5)))
struct RecordTests {
    private static let attribute = EntryRecord.attributeName(of: Sample.key("a"))
    private static let digest = Sample.digest.description

    /// An entry as a daemon of the first version left it.
    private func first(_ folder: CacheFolder) throws {
        let file = folder.file("a")
        try folder.write("image", to: file)
        try folder.setAttribute(
            Self.attribute,
            "v1 size=5 type=image/png width=64 height=48 fetched=1790000000 fresh=1790003600 "
                + "lifetime=60 modified=1780000000 etag=\"x1\"", of: file)
        try folder.setAttribute(EntryAttributes.fileDigest, Self.digest, of: file)
        try folder.setAttribute(EntryAttributes.mediaType, "image/png", of: file)
        try folder.setAttribute(EntryAttributes.url, Sample.url("a").string, of: file)
    }

    private var expected: EntryRecord {
        var record = Sample.record(size: 5)
        record.terms.lifetime = 60
        return record
    }

    private func digest(_ folder: CacheFolder) throws -> String? {
        try folder.directory.digest(of: Sample.key("a"))?.description
    }

    private func rewrite(_ record: EntryRecord, _ folder: CacheFolder) throws {
        let file = open(folder.file("a"), O_RDONLY)
        defer { close(file) }
        try folder.directory.rewrite(record, of: Sample.key("a"), file)
    }

    /// Everything that a file says about its entry, whichever version it has.
    private func expectWhole(_ folder: CacheFolder, isPinned: Bool? = false) throws {
        guard case .entry(let facts) = try folder.probe("a") else {
            Issue.record("it is no entry")
            return
        }
        #expect(facts.size == 5 && facts.width == 64 && facts.freshUntil == expected.freshUntil)
        if let isPinned { #expect(facts.isPinned == isPinned) }
        var record = try #require(folder.directory.entryRecord(of: Sample.key("a")))
        record.isPinned = false
        #expect(record == expected)
        #expect(try digest(folder) == Self.digest)
    }

    @Test func aRecordOfTheFirstVersionIsAnEntry() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try first(folder)
            try expectWhole(folder)
        }
    }

    @Test func aRecordThatIsWrittenAgainIsOneOfTheSecondVersion() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try first(folder)
            var pinned = expected
            pinned.isPinned = true
            try rewrite(pinned, folder)
            try expectWhole(folder, isPinned: true)
            let file = folder.file("a")
            #expect(folder.bytes(Self.attribute, of: file) == pinned.bytes)
            #expect(folder.validators("a")?.validators == expected.validators)
            #expect(folder.attribute(EntryAttributes.fileDigest, of: file) == nil)
            // From now on the validators stay as they are.
            try rewrite(expected, folder)
            try expectWhole(folder)
        }
    }

    /// The daemon can be killed between any two calls.
    @Test(arguments: 1...3)
    func anEntryIsWholeBetweenTheSteps(step: Int) async throws {
        try await withTestScope { scope in
            // The first attribute is that of the opening.
            let plan =
                step < 3
                ? FaultPlan(.fsetxattr, nth: step + 1, .ioError)
                : FaultPlan(.fremovexattr, nth: 1, .ioError)
            let folder = try CacheFolder(in: scope, faults: plan)
            try first(folder)
            var pinned = expected
            pinned.isPinned = true
            #expect(throws: Errno.ioError) { try rewrite(pinned, folder) }
            try expectWhole(folder, isPinned: nil)
            try rewrite(expected, folder)
            try expectWhole(folder)
        }
    }

    @Test func aFullInodeKeepsTheDigestAndLosesTheValidators() async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.fsetxattr, nth: 2, .noSpace)
            let folder = try CacheFolder(in: scope, faults: plan)
            try first(folder)
            try rewrite(expected, folder)
            #expect(plan.hasStruck)
            var bare = expected
            bare.validators = Validators()
            #expect(folder.directory.entryRecord(of: Sample.key("a")) == bare)
            #expect(try digest(folder) == Self.digest)
        }
    }

    @Test func aVerificationReplacesARecordOfTheFirstVersion() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let image = SampleImage.png(byteCount: 5000)
            fixture.origin.route("/a.png", .answer(headers: ["ETag": "\"1\""], body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            let (path, key) = (try fixture.file("/a.png"), try fixture.wish("/a.png").key)
            let name = EntryRecord.attributeName(of: key)
            let digest = fixture.cache.details(of: key).sha256?.description ?? "none"
            let attributes = ExtendedAttributes(of: path)
            try attributes.set(
                name, "v1 size=5000 type=image/png fetched=1790000000 pinned=1 etag=\"1\"")
            try attributes.set(EntryAttributes.fileDigest, digest)
            #expect(removexattr(path, ValidatorRecord.attributeName(of: key)) == 0)
            #expect(await fixture.verify().damagedCount == 0)
            try await waitUntil("the new record") {
                try attributes.bytes(of: name)?.starts(with: "v2".utf8) == true
                    && attributes[EntryAttributes.fileDigest] == nil
            }
            let record = try #require(fixture.cache.directory.entryRecord(of: key))
            #expect(record.isPinned && record.validators.entityTag == "\"1\"")
            #expect(fixture.cache.details(of: key).sha256?.description == digest)
            #expect(await fixture.verify().damagedCount == 0)
        }
    }

    @Test func newValidatorsKeepTheDigest() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            _ = try folder.publish("a")
            let file = open(folder.file("a"), O_RDONLY)
            defer { close(file) }
            let new = Validators(entityTag: "\"x2\"")
            try folder.directory.rewrite(new, of: Sample.key("a"), file)
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
