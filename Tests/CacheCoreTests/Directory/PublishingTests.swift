import CLinux
import CacheKey
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheModel

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
            #expect(try contents(of: file) == Array("image".utf8))
            let status = try #require(folder.status(file))
            #expect(status.st_mode & 0o7777 == 0o644)
            #expect(folder.attribute("user.xdg.origin.url", of: file) == Sample.url("b").string)
            #expect(folder.attribute("user.mime_type", of: file) == "image/png")
            #expect(
                folder.attribute("user.cached.sha256", of: file) == Sample.digest.description)
            let prefix = "\(Sample.key("b"))".prefix(8)
            #expect(
                folder.attribute("user.cached.\(prefix)", of: file) == Sample.record(size: 5).text)
            guard case .entry(let facts) = try folder.probe("b") else {
                Issue.record("the published file is no entry")
                return
            }
            #expect(facts.size == 5)
            #expect(facts.allocated == Int64(status.st_blocks) * 512)
        }
    }

    @Test func theFileIsNewWhateverTheUmask() async throws {
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
            #expect(try contents(of: folder.file("a")) == Array("image".utf8))
            var bytes = [UInt8](repeating: 0, count: 100)
            #expect(read(reader, &bytes, 100) == 13)
        }
    }

    /// For which it has to have the name of a partial, whoever has that.
    @Test func whatHasNoNameReplacesAnOlderFile() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(inMemory: scope)
            try folder.write("an older file", to: folder.file("a"))
            try folder.write("something", to: folder.partial("a"))
            let published = folder.directory.publish([folder.held("a")], now: .now)
            #expect(published.map(\.failure) == [nil])
            #expect(try contents(of: folder.file("a")) == Array("image".utf8))
            #expect(try folder.names() == ["\(Sample.key("a"))"])
            #expect(folder.status(folder.file("a"))?.st_nlink == 1)
        }
    }

    /// A full disk has it try twice, and what was in its way may be gone the second time.
    @Test func whatHasNoNameIsGivenOneOnce() async throws {
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
    func anybodyMayReadWhatHadNoNameWhateverTheUmask(mask: mode_t) async throws {
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

    @Test func whatIsInMemoryIsWrittenFirst() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(inMemory: scope)
            try folder.write("old", to: folder.partial("b"))
            let images = [folder.held("a"), try folder.stage("c"), folder.held("b", [1, 2, 3])]
            let published = folder.directory.publish(images, now: .now)
            #expect(published.allSatisfy { $0.failure == nil })
            #expect(try contents(of: folder.file("a")) == Array("image".utf8))
            #expect(try contents(of: folder.file("b")) == [1, 2, 3])
            // FIPS 180-4, of the bytes 1, 2, 3.
            #expect(
                folder.attribute("user.cached.sha256", of: folder.file("b"))
                    == "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81")
            // It has no use for the partial, and leaves it alone.
            #expect(try contents(of: folder.partial("b")) == Array("old".utf8))
            #expect(try folder.names().count == 4)
        }
    }

    @Test func whatIsPreparedIsNoEntryBeforeItIsCommitted() async throws {
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
            #expect(try contents(of: folder.partial("b")) == Array("image".utf8))
            #expect(folder.attribute("user.mime_type", of: folder.partial("b")) == "image/png")
            let published = folder.directory.settle(
                folder.directory.name(batch, sync: .eachFile, makeRoom: noRoom))
            #expect(published.map(\.key) == ["a", "b"].map(Sample.key))
            #expect(published.allSatisfy { $0.failure == nil })
            #expect(try folder.names() == ["a", "b"].map { "\(Sample.key($0))" }.sorted())
        }
    }

    @Test(arguments: [SyscallName.write, .fsetxattr])
    func aFullDiskEndsABatchOnlyWhereSomethingOfItMayGo(call: SyscallName) async throws {
        try await withTestScope { scope in
            let opening = FaultPlan(call, nth: .max, .diskQuotaExceeded)
            _ = try CacheFolder(in: scope, faults: opening)
            // One write and four attributes an image.
            let nth = opening.seen + (call == .write ? 2 : 6)
            let folder = try CacheFolder(
                in: scope, faults: FaultPlan(call, nth: nth, .diskQuotaExceeded))
            let noRoom = { (_: CacheKey, _: Int64) in false }
            var batch = PublicationBatch()
            let images = ["a", "b", "c"].map { folder.held($0) }
            #expect(
                folder.directory.prepare(images[...], for: &batch, now: .now, makeRoom: noRoom) == 1
            )
            let first = folder.directory.settle(
                folder.directory.name(batch, sync: .eachFile, makeRoom: noRoom))
            #expect(first.map(\.failure?.kind) == [nil])
            // The disk has room again.
            let rest = folder.directory.publish(Array(images[1...]), now: .now)
            #expect(rest.map(\.failure?.kind) == [nil, nil])
            #expect(try folder.names().count == 3)
        }
    }

    @Test func aWantOfDescriptorsEndsABatchThatHasSome() async throws {
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

    /// Where the disk is full, as much is made room for as is to be written.
    @Test func roomIsMadeForAllOfAnImage() async throws {
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

    @Test func whatAStrangerLaysInThePlaceOfAPartialIsNotPublished() async throws {
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

    /// Whatever its record said when the download began.
    @Test(arguments: [false, true])
    func whatIsPinnedByThenIsPublishedAsSuch(isPinned: Bool) async throws {
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
            let published = folder.directory.settle(
                folder.directory.name(batch, sync: .eachFile, makeRoom: noRoom))
            #expect(published.map(\.failure) == [nil])
            let record = try folder.directory.record(of: image.key, name: image.key.description)
            #expect(record?.isPinned == isPinned)
        }
    }

    /// A later daemon knows the order of use by that alone.
    @Test func eachOfABatchIsUsedAfterTheOneBefore() async throws {
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
            #expect(try contents(of: folder.file("a")) == Array("image".utf8))
        }
    }

    @Test func aDirectoryUnderTheNameObstructsOnlyThatImage() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            #expect(mkdir(folder.file("b"), 0o700) == 0)
            let published = try folder.publish("a", "b", "c")
            #expect(published.map { $0.failure?.kind } == [nil, .obstructed, nil])
            #expect(folder.status(folder.partial("b")) == nil)
            #expect(try folder.probe("b") == .obstructed)
        }
    }

    /// Every call of every kind that publishing three images makes, failed one at a time.
    @Test(
        arguments: [.fsetxattr, .fsync, .rename, .linkat, .fstat, .openat, .write]
            as [SyscallName], Way.allCases)
    func aFailedCallLosesOnlyItsImage(call: SyscallName, way: Way) async throws {
        let images = ["a", "b", "c"]
        for nth in 1...12 {
            try await withTestScope { scope in
                // Each is made, looked at and written when it is staged.
                let isStaging = [.fstat, .openat, .write].contains(call) && way == .partial
                let faults = SwitchedFaults(
                    call, nth: nth + (isStaging ? images.count : 0),
                    besides: way.obstacle(besides: call))
                let folder = try CacheFolder(inMemory: scope, faults: faults.plan)
                let staged = try images.map { try way.image($0, in: folder) }
                let published = folder.directory.publish(staged, now: .now)
                guard faults.plan.hasStruck else {
                    #expect(nth > 1 || way.spares(call), "\(call) is never called")
                    return
                }
                let lost = zip(images, published).filter { $1.failure != nil }.map(\.0)
                // The directory's own sync comes after those of the files and is everybody's.
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

    /// How an image comes to be an entry.
    enum Way: CaseIterable {
        /// From its partial.
        case partial
        /// Out of memory, by a file that has no name before; where there is no entry, and where there is.
        case unnamed, unnamedOverOlder
        /// The same where files can't be without a name.
        case named

        /// Whether it takes no call of this kind.
        fileprivate func spares(_ call: SyscallName) -> Bool {
            switch self {
            case .partial: [.openat, .write, .linkat].contains(call)
            case .unnamed: call == .rename
            case .unnamedOverOlder: false
            case .named: call == .linkat
            }
        }

        /// Why there are none without a name: it can't be made, or not named.
        fileprivate func obstacle(besides call: SyscallName) -> FaultPlan? {
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

    /// A failed sync of the file system says nothing of these files, nor does one of a read-only file system
    /// that did not fail: their own syncs decide.
    @Test(arguments: [nil, SyscallName.syncfs, .statfs, .fsync])
    func manyFilesAreSyncedTogether(failing call: SyscallName?) async throws {
        let images = ["a", "b", "c"]
        try await withTestScope { scope in
            let faults = SwitchedFaults(call ?? .mkdir, nth: call == nil ? 99 : 1)
            let folder = try CacheFolder(in: scope, faults: faults.plan)
            let staged = try images.map { try folder.stage($0) }
            let published = folder.directory.publish(staged, now: .now, sync: .fileSystem)
            // Only the directory's own sync is left to fail then, which is everybody's.
            let isLost = call == .fsync
            #expect(published.allSatisfy { ($0.failure != nil) == isLost })
            #expect(images.allSatisfy { (folder.status(folder.file($0)) != nil) != isLost })
            #expect(faults.plan.hasStruck == (call != nil))
        }
    }

    /// What has its name is on the disk with the file system, be it synced for others; where that can't be, or
    /// says nothing because the file system is read-only, with its directory.
    @Test(arguments: [nil, SyscallName.syncfs, .statfs])
    func theSyncForTheNextBatchSettlesTheOneBefore(failing call: SyscallName?) async throws {
        try await withTestScope { scope in
            let syncs = FaultPlan(.fsync, nth: .max, .ioError)
            let faults = SwitchedFaults(call ?? .mkdir, nth: call == nil ? 99 : 2, besides: syncs)
            let folder = try CacheFolder(in: scope, faults: faults.plan)
            let before = syncs.seen
            let first = folder.named("a")
            #expect(syncs.seen == before)
            var settled: [Publication] = []
            let second = folder.named("b", after: first) {
                settled = $0
                #expect(folder.status(folder.file("b")) == nil)
            }
            #expect(settled.map(\.key) == [Sample.key("a")] && settled.first?.failure == nil)
            #expect(
                syncs.seen == before + (call == nil ? 0 : 2), "the directory and b itself")
            #expect(folder.directory.settle(second).map { $0.failure?.kind } == [nil])
            #expect(syncs.seen == before + (call == nil ? 1 : 3))
            #expect(faults.plan.hasStruck == (call != nil))
        }
    }

    /// Names of which nobody can say that they are on the disk are taken back; the batch after them goes on.
    @Test(arguments: [SyscallName.syncfs, .statfs])
    func aBatchWhoseNamesCannotBeSettledIsLostAlone(failing call: SyscallName) async throws {
        try await withTestScope { scope in
            let directorySync = SwitchedFaults(.fsync, nth: 1)
            let faults = SwitchedFaults(call, nth: 2, besides: directorySync.plan)
            let folder = try CacheFolder(in: scope, faults: faults.plan)
            var settled: [Publication] = []
            let second = folder.named("b", after: folder.named("a")) { settled = $0 }
            #expect(settled.map { $0.failure?.kind } == [.storage])
            #expect(settled.first?.isLostByOthers == true, "it is downloaded anew")
            #expect(folder.status(folder.file("a")) == nil)
            #expect(folder.directory.settle(second).map { $0.failure?.kind } == [nil])
            #expect(folder.status(folder.file("b")) != nil)
            #expect(faults.plan.hasStruck && directorySync.plan.hasStruck)
        }
    }

    /// Some file systems can't sync a directory, and then don't need it. fsync(2).
    @Test func aDirectoryThatCannotBeSyncedIsNoFailure() async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.fsync, nth: 1, .invalidArgument, times: 3)
            let folder = try CacheFolder(in: scope, faults: plan)
            let second = folder.named("b", after: folder.named("a"))
            #expect(folder.directory.settle(second).map { $0.failure?.kind } == [nil])
            #expect(folder.directory.settle(folder.named("c")).map { $0.failure?.kind } == [nil])
            #expect(plan.seen == 3, "at the start, and for two batches that none came after")
        }
    }

    /// Names given in a directory that is not the cache's any more are lost, be they on the disk.
    @Test func namesInADirectoryThatWasReplacedAreLost() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let named = folder.named("a")
            #expect(rename(folder.path, folder.path + ".old") == 0)
            #expect(mkdir(folder.path, 0o700) == 0)
            try folder.directory.adopt {}
            let settled = folder.directory.settle(named)
            #expect(settled.map { $0.failure?.kind } == [.storage])
            #expect(settled.first?.isLostByOthers == true)
            #expect(folder.status(folder.path + ".old/\(Sample.key("a"))") != nil)
        }
    }

    /// The record is the first attribute and the URL the fourth; neither may cost the other.
    @Test(arguments: [1, 4])
    func whatDoesNotFitInTheInodeGoesWithoutItsValidators(nth: Int) async throws {
        try await withTestScope { scope in
            let plan = FaultPlan(.fsetxattr, nth: 1 + nth, .noSpace)
            let folder = try CacheFolder(in: scope, faults: plan)
            #expect(try folder.publish("a").first?.failure == nil)
            #expect(plan.hasStruck)
            let record = try #require(
                try folder.directory.record(
                    of: Sample.key("a"), name: Sample.key("a").description))
            #expect(record.validators == Validators())
            #expect(record.size == 5)
            let url = folder.attribute("user.xdg.origin.url", of: folder.file("a"))
            #expect(url == Sample.url("a").string)
        }
    }

    @Test func fullDisksAreNamedSo() {
        #expect(Failure.storage(.noSpace, path: "/x").message.contains("full"))
        #expect(Failure.storage(.isDirectory, path: "/x").kind == .obstructed)
        #expect(Failure.storage(.ioError, path: "/x").kind == .storage)
    }
}

/// A fault that counts from the first image on, not from the opening of the directory.
private struct SwitchedFaults {
    let plan: FaultPlan

    init(_ call: SyscallName, nth: Int, besides other: FaultPlan? = nil) {
        // Opening tries one attribute and one name, looks at the directory once and syncs it; it opens four
        // files, makes one and writes two texts.
        let before: [SyscallName: Int] = [
            .fsetxattr: 1, .linkat: 1, .fstat: 1, .fsync: 1, .openat: 5, .write: 2,
            .statfs: 1,
        ]
        plan = FaultPlan(call, nth: nth + (before[call] ?? 0), .ioError, besides: other)
    }
}
