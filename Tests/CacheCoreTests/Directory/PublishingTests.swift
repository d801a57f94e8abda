import CLinux
import CacheKey
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore

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
            guard case .entry(let facts) = try folder.examine("b") else {
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
            let folder = try CacheFolder(in: scope)
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
            #expect(try folder.names().count == 3)
        }
    }

    @Test func whatIsPreparedIsNoEntryBeforeItIsCommitted() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let noRoom = { (_: CacheKey, _: Int64) in false }
            var batch = PublicationBatch()
            for image in [folder.held("a"), try folder.stage("b")] {
                #expect(
                    folder.directory.prepare([image], for: &batch, now: .now, makeRoom: noRoom) == 1
                )
            }
            #expect(batch.count == 2)
            for name in ["a", "b"] {
                #expect(try folder.examine(name) == .absent)
                #expect(try contents(of: folder.partial(name)) == Array("image".utf8))
                let type = folder.attribute("user.mime_type", of: folder.partial(name))
                #expect(type == "image/png")
            }
            let published = folder.directory.commit(batch, sync: .eachFile, makeRoom: noRoom)
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
            let first = folder.directory.commit(batch, sync: .eachFile, makeRoom: noRoom)
            #expect(first.map(\.failure?.kind) == [nil])
            // The disk has room again.
            let rest = folder.directory.publish(Array(images[1...]), now: .now)
            #expect(rest.map(\.failure?.kind) == [nil, nil])
            #expect(try folder.names().count == 3)
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
            #expect(try folder.examine("b") == .obstructed)
        }
    }

    /// Every call of every kind that publishing three images makes, failed one at a time; images in their
    /// partials, and such as are in memory.
    @Test(
        arguments: [.fsetxattr, .fsync, .rename, .fstat, .openat, .write] as [SyscallName],
        [false, true])
    func aFailedCallLosesOnlyItsImage(call: SyscallName, isHeld: Bool) async throws {
        let images = ["a", "b", "c"]
        for nth in 1...12 {
            try await withTestScope { scope in
                // Each is made, looked at and written when it is staged.
                let isStaging = [.fstat, .openat, .write].contains(call) && !isHeld
                let faults = SwitchedFaults(call, nth: nth + (isStaging ? images.count : 0))
                let folder = try CacheFolder(in: scope, faults: faults.plan)
                let staged = try images.map { isHeld ? folder.held($0) : try folder.stage($0) }
                let published = folder.directory.publish(staged, now: .now)
                guard faults.plan.hasStruck else { return }
                let lost = zip(images, published).filter { $1.failure != nil }.map(\.0)
                // The directory's own sync comes after those of the files and is everybody's.
                let isShared = call == .fsync && nth == images.count + 1
                #expect(lost.count == (isShared ? 3 : 1), "\(call) \(nth)")
                for (image, publication) in zip(images, published) {
                    let isThere = folder.status(folder.file(image)) != nil
                    #expect(isThere == (publication.failure == nil), "\(call) \(nth): \(image)")
                    #expect(folder.status(folder.partial(image)) == nil, "\(call) \(nth)")
                }
            }
        }
    }

    /// The record is the first attribute and the URL the fourth; neither may cost the other.
    /// A failed sync of the file system says nothing of these files: their own syncs decide.
    @Test(arguments: [nil, SyscallName.syncfs, .fsync])
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

    init(_ call: SyscallName, nth: Int) {
        // Opening tries one attribute, looks at the directory once and syncs it; it opens four files and
        // writes two texts.
        let before: [SyscallName: Int] = [
            .fsetxattr: 1, .fstat: 1, .fsync: 1, .openat: 4, .write: 2,
        ]
        plan = FaultPlan(call, nth: nth + (before[call] ?? 0), .ioError)
    }
}
