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

@Suite("Publishing", .timeLimit(.minutes(5)))
struct PublishingTests {
    @Test(arguments: [false, true])
    func publishesABatchWithAllItsAttributes(inMemory: Bool) async throws {
        try await withTestScope { scope in
            let folder = try inMemory ? CacheFolder(inMemory: scope) : CacheFolder(in: scope)
            let published = try folder.publish("a", "b", "c")
            #expect(published.map(\.key) == ["a", "b", "c"].map(Sample.key))
            #expect(published.allSatisfy { $0.failure == nil })
            #expect(try folder.names() == ["a", "b", "c"].map { "\(Sample.key($0))" }.sorted())
            let file = folder.file("b")
            #expect(try contents(of: file) == Sample.bytes("b"))
            let status = try #require(folder.status(file))
            #expect(status.st_mode & 0o7777 == 0o644)
            #expect(folder.attribute("user.xdg.origin.url", of: file) == Sample.url("b").string)
            #expect(folder.attribute("user.mime_type", of: file) == "image/png")
            let digest = ContentDigest(of: Sample.bytes("b"))
            var record = Sample.record(size: 5)
            record.digestPrefix = digest.prefix
            let name = "user.cached.\("\(Sample.key("b"))".prefix(8))"
            #expect(folder.bytes(name, of: file) == record.bytes)
            let validators = ValidatorRecord(
                digest: digest.description, validators: record.validators)
            #expect(folder.attribute("\(name).validators", of: file) == validators.text)
            guard case .entry(let facts) = try folder.probe("b") else {
                Issue.record("the published file is no entry")
                return
            }
            #expect(facts.size == 5)
            #expect(facts.allocated == Int64(status.st_blocks) * 512)
        }
    }

    @Test func aPartialIsReadableWhateverTheUmask() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let image = try folder.stage("a")
            #expect(folder.status(folder.partial("a"))?.st_mode == S_IFREG | 0o644)
            #expect(folder.status(folder.partial("a"))?.st_size == 5)
            _ = image
        }
    }

    @Test func replacesAnOlderFileAndLeavesItsReadersAlone() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            try folder.write("an older file", to: folder.file("a"))
            let reader = open(folder.file("a"), O_RDONLY)
            defer { close(reader) }
            #expect(try folder.publish("a").first?.failure == nil)
            #expect(try contents(of: folder.file("a")) == Sample.bytes("a"))
            var bytes = [UInt8](repeating: 0, count: 100)
            #expect(read(reader, &bytes, 100) == 13)
        }
    }

    /// To be renamed, it first takes the name of its partial, from any file that has it.
    @Test func aFileWithoutANameReplacesAnOlderFile() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(inMemory: scope)
            try folder.write("an older file", to: folder.file("a"))
            try folder.write("something", to: folder.partial("a"))
            let published = folder.directory.publish([folder.held("a")], now: .now)
            #expect(published.map(\.failure) == [nil])
            #expect(try contents(of: folder.file("a")) == Sample.bytes("a"))
            #expect(try folder.names() == ["\(Sample.key("a"))"])
            #expect(folder.status(folder.file("a"))?.st_nlink == 1)
        }
    }

    /// After a full disk it is tried twice. The file that was in its way can be gone the second time.
    @Test func aFileWithoutANameGetsOneName() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(
                inMemory: scope, faults: FaultPlan(.rename, nth: 1, .noSpace))
            try folder.write("an older file", to: folder.file("a"))
            let published = folder.directory.publish([folder.held("a")], now: .now) { _, _ in
                unlink(folder.file("a")) == 0
            }
            #expect(published.map(\.failure) == [nil])
            #expect(try folder.names() == ["\(Sample.key("a"))"])
            #expect(folder.status(folder.file("a"))?.st_nlink == 1)
        }
    }

    @Test(arguments: [0o077, 0o000])
    func aFileThatHadNoNameIsReadableWhateverTheUmask(mask: mode_t) async throws {
        let usual = umask(mask)
        defer { umask(usual) }
        try await withTestScope { scope in
            let folder = try CacheFolder(inMemory: scope)
            #expect(folder.directory.makesUnnamedFiles)
            _ = folder.directory.publish([folder.held("a")], now: .now)
            #expect(folder.status(folder.file("a"))?.st_mode == S_IFREG | 0o644)
        }
    }

    @Test func replacesALinkAndNotWhatItLeadsTo() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let target = try TemporaryDirectory(in: scope).write("precious", to: "target")
            #expect(symlink(target, folder.file("a")) == 0)
            #expect(try folder.publish("a").first?.failure == nil)
            #expect(folder.status(folder.file("a")).map { $0.st_mode & S_IFMT } == S_IFREG)
            #expect(try contents(of: target) == Array("precious".utf8))
        }
    }

    @Test func bytesInMemoryAreWrittenFirst() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(inMemory: scope)
            try folder.write("old", to: folder.partial("b"))
            let images = [folder.held("a"), try folder.stage("c"), folder.held("b", [1, 2, 3])]
            let published = folder.directory.publish(images, now: .now)
            #expect(published.allSatisfy { $0.failure == nil })
            #expect(try contents(of: folder.file("a")) == Sample.bytes("a"))
            #expect(try contents(of: folder.file("b")) == [1, 2, 3])
            // FIPS 180-4, of the bytes 1, 2, 3.
            #expect(
                folder.validators("b")?.digest
                    == "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81")
            // An image in memory needs no partial, so an existing one is left alone.
            #expect(try contents(of: folder.partial("b")) == Array("old".utf8))
            #expect(try folder.names().count == 4)
        }
    }

    @Test func aPreparedImageIsNoEntryBeforeTheCommit() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(inMemory: scope)
            let noRoom = { (_: CacheKey, _: Int64) in false }
            var batch = PublicationBatch()
            for image in [folder.held("a"), try folder.stage("b")] {
                #expect(
                    folder.directory.prepare([image], for: &batch, now: .now, makeRoom: noRoom) == 1
                )
            }
            #expect(batch.count == 2)
            #expect(try folder.names() == ["\(Sample.key("b")).part"])
            #expect(try contents(of: folder.partial("b")) == Sample.bytes("b"))
            let name = EntryRecord.attributeName(of: Sample.key("b"))
            #expect(folder.bytes(name, of: folder.partial("b"))?.count == 56)
            let published = folder.directory.commit(
                &batch, .eachFile, makeRoom: noRoom)
            #expect(published.map(\.key) == ["a", "b"].map(Sample.key))
            #expect(published.allSatisfy { $0.failure == nil })
            #expect(try folder.names() == ["a", "b"].map { "\(Sample.key($0))" }.sorted())
        }
    }

    @Test(arguments: [SyscallName.write, .fsetxattr])
    func aFullDiskEndsABatchThatHoldsOtherImages(call: SyscallName) async throws {
        try await withTestScope { scope in
            let opening = FaultPlan(call, nth: .max, .diskQuotaExceeded)
            _ = try CacheFolder(in: scope, faults: opening)
            // One write and one attribute an image.
            let nth = opening.seen + 2
            let folder = try CacheFolder(
                in: scope, faults: FaultPlan(call, nth: nth, .diskQuotaExceeded))
            let noRoom = { (_: CacheKey, _: Int64) in false }
            var batch = PublicationBatch()
            let images = ["a", "b", "c"].map { folder.held($0) }
            #expect(
                folder.directory.prepare(images[...], for: &batch, now: .now, makeRoom: noRoom) == 1
            )
            let first = folder.directory.commit(
                &batch, .eachFile, makeRoom: noRoom)
            #expect(first.map(\.failure?.kind) == [nil])
            // The disk has room again.
            let rest = folder.directory.publish(Array(images[1...]), now: .now)
            #expect(rest.map(\.failure?.kind) == [nil, nil])
            #expect(try folder.names().count == 3)
        }
    }

    @Test func aLackOfDescriptorsEndsABatchThatHoldsOtherImages() async throws {
        try await withTestScope { scope in
            let opening = FaultPlan(.openat, nth: .max, .tooManyOpenFiles)
            _ = try CacheFolder(inMemory: scope, faults: opening)
            let folder = try CacheFolder(
                inMemory: scope,
                faults: FaultPlan(.openat, nth: opening.seen + 2, .tooManyOpenFiles))
            let noRoom = { (_: CacheKey, _: Int64) in false }
            var batch = PublicationBatch()
            let images = ["a", "b"].map { folder.held($0) }
            #expect(
                folder.directory.prepare(images[...], for: &batch, now: .now, makeRoom: noRoom) == 1
            )
        }
    }

    /// On a full disk, room is requested for all bytes that have to be written.
    @Test func roomIsMadeForAllBytesOfAnImage() async throws {
        try await withTestScope { scope in
            let opening = FaultPlan(.write, nth: .max, .noSpace)
            _ = try CacheFolder(inMemory: scope, faults: opening)
            let folder = try CacheFolder(
                inMemory: scope, faults: FaultPlan(.write, nth: opening.seen + 1, .noSpace))
            var asked: [Int64] = []
            let published = folder.directory.publish([folder.held("a")], now: .now) { _, bytes in
                asked.append(bytes)
                return true
            }
            #expect(published.map(\.failure) == [nil])
            #expect(asked == [5])
        }
    }

    @Test func aFileThatReplacedAPartialIsNotPublished() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let image = try folder.stage("a")
            #expect(unlink(folder.partial("a")) == 0)
            try folder.write("something else", to: folder.partial("a"))
            let published = folder.directory.publish([image], now: .now)
            #expect(published.map(\.failure?.kind) == [.storage])
            #expect(published.first?.isLostByOthers == true)
            #expect(folder.status(folder.file("a")) == nil)
            #expect(try contents(of: folder.partial("a")) == Array("something else".utf8))
        }
    }

    /// The record says what was pinned when the download began.
    @Test(arguments: [false, true])
    func anImageIsPublishedWithThePinOfThatMoment(isPinned: Bool) async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(inMemory: scope)
            let image = StagedImage(
                flight: FlightID(rawValue: 1), key: Sample.key("a"),
                body: .bytes(Array("image".utf8)), url: Sample.url("a"),
                record: Sample.record(size: 5, isPinned: !isPinned))
            let noRoom = { (_: CacheKey, _: Int64) in false }
            var batch = PublicationBatch()
            _ = folder.directory.prepare(
                [image], pinned: isPinned ? [image.key] : [], for: &batch, now: .now,
                makeRoom: noRoom)
            let published = folder.directory.commit(
                &batch, .eachFile, makeRoom: noRoom)
            #expect(published.map(\.failure) == [nil])
            let record = try folder.directory.record(of: image.key)
            #expect(record?.isPinned == isPinned)
        }
    }

    /// After a restart, the order of use is known only from these times.
    @Test func eachImageOfABatchIsUsedAfterTheOneBefore() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            var lastUse = FileTime(UnixTime(rawValue: 1_790_000_100))
            for name in ["a", "b", "c"] {
                if name == "a" { #expect(try folder.publish("a", "b", "c").count == 3) }
                let status = try #require(folder.status(folder.file(name)))
                #expect(FileTime(status.st_atim) == lastUse)
                lastUse = FileTime(nanoseconds: lastUse.nanoseconds + 1)
            }
        }
    }

    @Test func replacesAFIFO() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(mkfifo(folder.file("a"), 0o600) == 0)
            #expect(try folder.publish("a").first?.failure == nil)
            #expect(try contents(of: folder.file("a")) == Sample.bytes("a"))
        }
    }

    @Test func aDirectoryObstructsOnlyTheImageWithItsName() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(mkdir(folder.file("b"), 0o700) == 0)
            let published = try folder.publish("a", "b", "c")
            #expect(published.map { $0.failure?.kind } == [nil, .obstructed, nil])
            #expect(folder.status(folder.partial("b")) == nil)
            #expect(try folder.probe("b") == .obstructed)
        }
    }

    /// Of the calls that publishing three images makes, one fails at a time.
    @Test(
        arguments: [.fsetxattr, .fsync, .rename, .linkat, .fstat, .openat, .write]
            as [SyscallName], Way.allCases)
    func aFailedCallLosesOnlyItsImage(call: SyscallName, way: Way) async throws {
        let images = ["a", "b", "c"]
        for nth in 1...12 {
            try await withTestScope { scope in
                // Staging makes each file, reads its status and writes it.
                let isStaging = [.fstat, .openat, .write].contains(call) && way == .partial
                let faults = SwitchedFaults(
                    call, nth: nth + (isStaging ? images.count : 0),
                    and: way.obstacle(otherThan: call))
                let folder = try CacheFolder(inMemory: scope, faults: faults.plan)
                let published = folder.publishAlone(
                    try images.map { try way.image($0, in: folder) })
                guard faults.plan.hasStruck else {
                    #expect(nth > 1 || way.spares(call), "\(call) is never called")
                    return
                }
                let lost = zip(images, published).filter { $1.failure != nil }.map(\.0)
                // The directory's sync comes after those of the files, and all images depend on it.
                let isShared = call == .fsync && nth == images.count + 1
                #expect(lost.count == (isShared ? 3 : 1), "\(call) \(nth)")
                for (image, publication) in zip(images, published) {
                    let isDone = publication.failure == nil
                    let isThere = folder.status(folder.file(image))?.st_size == 5
                    #expect(isThere == isDone, "\(call) \(nth): \(image)")
                    #expect(folder.status(folder.partial(image)) == nil, "\(call) \(nth)")
                }
            }
        }
    }

    /// How an image becomes an entry.
    enum Way: CaseIterable {
        /// From its partial.
        case partial
        /// From memory, by a file without a name. In the second case, an older file has the name of the entry.
        case unnamed, unnamedOverOlder
        /// From memory, if there can be no files without a name.
        case named

        /// Whether it makes no call of this kind.
        fileprivate func spares(_ call: SyscallName) -> Bool {
            switch self {
            case .partial: [.openat, .write, .linkat].contains(call)
            case .unnamed: call == .rename
            case .unnamedOverOlder: false
            case .named: call == .linkat
            }
        }

        /// The fault that prevents files without a name: they can't be made, or not named.
        fileprivate func obstacle(otherThan call: SyscallName) -> FaultPlan? {
            guard self == .named else { return nil }
            return call == .linkat
                ? FaultPlan(.openat, nth: 5, .notSupported)
                : FaultPlan(.linkat, nth: 1, .notPermitted)
        }

        fileprivate func image(_ name: String, in folder: CacheFolder) throws -> StagedImage {
            if self == .unnamedOverOlder {
                try folder.write("an older file", to: folder.file(name))
            }
            return self == .partial ? try folder.stage(name) : folder.held(name)
        }
    }

    /// A failed sync of the file system says nothing about these files. Neither does a successful one if the file
    /// system is read-only. Then their own syncs decide.
    @Test(arguments: [nil, SyscallName.syncfs, .statfs, .fsync])
    func manyFilesAreSyncedTogether(failing call: SyscallName?) async throws {
        let images = ["a", "b", "c"]
        try await withTestScope { scope in
            let faults = SwitchedFaults(call ?? .mkdir, nth: call == nil ? 99 : 1)
            let folder = try CacheFolder(in: scope, faults: faults.plan)
            let staged = try images.map { try folder.stage($0) }
            let published = folder.directory.publish(staged, now: .now, sync: .fileSystem)
            // The only fsync is that of the directory, on which all images depend.
            let isLost = call == .fsync
            #expect(published.allSatisfy { ($0.failure != nil) == isLost })
            #expect(images.allSatisfy { (folder.status(folder.file($0)) != nil) != isLost })
            #expect(faults.plan.hasStruck == (call != nil))
        }
    }

    /// One sync of the file system for the files of a batch, and one sync of the directory for their names.
    @Test(arguments: [nil, SyscallName.syncfs, .statfs])
    func aBatchSyncsTheDirectoryOnce(failing call: SyscallName?) async throws {
        let images = ["a", "b", "c"]
        try await withTestScope { scope in
            let syncs = FaultPlan(.fsync, nth: .max, .ioError)
            let faults = SwitchedFaults(call ?? .mkdir, nth: call == nil ? 99 : 1, and: syncs)
            let folder = try CacheFolder(in: scope, faults: faults.plan)
            let before = syncs.seen
            let published = folder.directory.publish(
                images.map { folder.held($0) }, now: .now, sync: .fileSystem)
            #expect(published.allSatisfy { $0.failure == nil })
            let ofFiles = call == nil ? 0 : images.count
            #expect(syncs.seen == before + ofFiles + 1)
            #expect(faults.plan.hasStruck == (call != nil))
        }
    }

    /// Without the directory's sync, the names can be lost in a power cut. The next batch is not affected.
    @Test func aBatchWhoseDirectoryCannotBeSyncedIsLostAlone() async throws {
        try await withTestScope { scope in
            let faults = SwitchedFaults(.fsync, nth: 1)
            let folder = try CacheFolder(in: scope, faults: faults.plan)
            func publish(_ name: String) -> [Publication] {
                folder.directory.publish([folder.held(name)], now: .now, sync: .fileSystem)
            }
            let lost = publish("a")
            #expect(lost.map { $0.failure?.kind } == [.storage])
            #expect(lost.first?.isLostByOthers == true, "it is downloaded again")
            #expect(folder.status(folder.file("a")) == nil)
            #expect(publish("b").map { $0.failure?.kind } == [nil])
            #expect(folder.status(folder.file("b")) != nil)
            #expect(faults.plan.hasStruck)
        }
    }

    /// Some file systems can't sync a directory, and then don't need it. fsync(2).
    @Test func aDirectoryThatCannotBeSyncedIsNoFailure() async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.fsync, nth: 1, .invalidArgument, times: 3)
            let folder = try CacheFolder(in: scope, faults: plan)
            for names in [["a", "b"], ["c"]] {
                let published = folder.directory.publish(
                    names.map { folder.held($0) }, now: .now, sync: .fileSystem)
                #expect(published.allSatisfy { $0.failure == nil })
            }
            #expect(plan.seen == 3, "at the start, and for two batches")
        }
    }

    /// The names are durable, but not in the directory that is the cache's now.
    @Test func namesInADirectoryThatWasReplacedAreLost() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope, faults: FaultPlan(.rename, nth: 2, .noSpace))
            let images = [try folder.stage("a"), try folder.stage("b")]
            // The first image has its name when the second one finds the disk full.
            let published = folder.directory.publish(images, now: .now) { _, _ in
                #expect(rename(folder.path, folder.path + ".old") == 0)
                #expect(mkdir(folder.path, 0o700) == 0)
                #expect(throws: Never.self) { try folder.directory.adopt {} }
                return true
            }
            #expect(published.map { $0.failure?.kind } == [.storage, .storage])
            #expect(published.allSatisfy { $0.isLostByOthers })
            #expect(folder.status(folder.path + ".old/\(Sample.key("a"))") != nil)
        }
    }

    /// Of the attributes beside the record, the validators are the first and the URL the third. Neither is left out
    /// because of the other.
    @Test(arguments: [1, 3])
    func anInodeWithoutRoomKeepsNoValidators(nth: Int) async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.setxattr, nth: nth, .noSpace)
            let folder = try CacheFolder(in: scope, faults: plan)
            #expect(try folder.publish("a").first?.failure == nil)
            #expect(plan.hasStruck)
            let record = try #require(folder.directory.entryRecord(of: Sample.key("a")))
            #expect(record.validators == Validators())
            let digest = ContentDigest(of: Sample.bytes("a"))
            #expect(folder.validators("a")?.digest == digest.description)
            #expect(record.size == 5)
            let url = folder.attribute("user.xdg.origin.url", of: folder.file("a"))
            #expect(url == Sample.url("a").string)
        }
    }

    @Test func theErrorSaysThatTheDiskIsFull() {
        #expect(Failure.storage(.noSpace, path: "/x").message.contains("full"))
        #expect(Failure.storage(.isDirectory, path: "/x").kind == .obstructed)
        #expect(Failure.storage(.ioError, path: "/x").kind == .storage)
    }
}

/// A fault whose calls are counted from the first image on, not from the opening of the directory.
private struct SwitchedFaults {
    let plan: FaultPlan

    init(_ call: SyscallName, nth: Int, and other: FaultPlan? = nil) {
        // Opening the directory tries one attribute and one name, reads its status once and syncs it. It opens four
        // files, makes one and writes two texts.
        let before: [SyscallName: Int] = [
            .fsetxattr: 1, .linkat: 1, .fstat: 1, .fsync: 1, .openat: 5, .write: 2,
            .statfs: 1,
        ]
        plan = FaultPlan(call, nth: nth + (before[call] ?? 0), .ioError, and: other)
    }
}
