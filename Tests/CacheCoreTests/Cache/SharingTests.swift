import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import SystemPackage
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Images with equal bytes are names of one file.
@Suite("Cache: shared files", .timeLimit(.minutes(5)))
struct SharingTests {
    private let image = SampleImage.png(byteCount: 50_000)

    private func fixture(
        in scope: TestScope, directory: String? = nil, origin: ScriptedOrigin? = nil,
        faults: FaultPlan? = nil, _ change: (inout CacheSettings) -> Void = { _ in }
    ) throws -> CacheFixture {
        try CacheFixture(in: scope, directory: directory, origin: origin, faults: faults) {
            $0.sharesFiles = true
            change(&$0)
        }
    }

    private func inode(_ fixture: CacheFixture, _ path: String) throws -> ino_t? {
        var status = stat()
        return lstat(try fixture.file(path), &status) == 0 ? status.st_ino : nil
    }

    private func inodes(_ fixture: CacheFixture, _ paths: [String]) throws -> Set<ino_t?> {
        Set(try paths.map { try inode(fixture, $0) })
    }

    private func details(_ fixture: CacheFixture, _ path: String) throws -> EntryDetails {
        fixture.cache.details(of: try fixture.imageRequest(path).key)
    }

    private func fetch(_ fixture: CacheFixture, _ paths: [String]) async throws {
        for path in paths {
            #expect(try await fixture.fetch(path).failures.isEmpty, "\(path)")
        }
    }

    /// The bytes that the cache counts are those on the disk.
    private func expectTrueFigures(_ fixture: CacheFixture) async throws {
        try await waitUntil("the figures to agree") {
            let usage = try DirectoryUsage(of: fixture.directory)
            let figures = fixture.cache.statistics()
            return figures.bytesUsed == usage.bytes && figures.entries == usage.entries
        }
    }

    @Test func equalBytesAreStoredOnce() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let paths = (0..<5).map { "/a.png?sig=\($0)" }
            fixture.origin.route("/a.png", .answer(body: image))
            fixture.origin.route(
                "/b.png", .answer(body: SampleImage.png(byteCount: 50_000, seed: 1)))
            try await fetch(fixture, paths + ["/b.png"])
            #expect(try inodes(fixture, paths).count == 1)
            #expect(try inode(fixture, "/b.png") != inode(fixture, paths[0]))
            for path in paths {
                let details = try details(fixture, path)
                #expect(details.url == fixture.origin.url(path))
                #expect(details.sha256 == ContentDigest(of: image))
                #expect(details.names == 5)
                #expect(try contents(of: fixture.file(path)) == image)
            }
            #expect(fixture.cache.statistics().duplicates.entries == 4)
            try await expectTrueFigures(fixture)
            #expect(fixture.cache.statistics().bytesUsed < 150_000)
        }
    }

    /// All arrive together, so most of them share the file of another one in their batch.
    @Test func equalBytesInABatchAreStoredOnce() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let images = (0..<20).map { SampleImage.png(byteCount: 3000, seed: $0) }
            for (number, image) in images.enumerated() {
                fixture.origin.route("/\(number).png", .answer(body: image))
            }
            let paths = (0..<200).map { "/\($0 % 20).png?copy=\($0)" }
            let imageRequests = try paths.map { try fixture.imageRequest($0) }
            let waiter = fixture.cache.fetch(imageRequests, FetchOptions())
            #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            let all = try inodes(fixture, paths)
            // The attributes of a file leave room for a limited number of names.
            #expect(all.count >= 20 && all.count <= 40, "\(all.count) files")
            try await expectTrueFigures(fixture)
            for (number, path) in paths.enumerated() {
                #expect(try contents(of: fixture.file(path)) == images[number % 20])
            }
            let report = await fixture.verify()
            #expect(report.checked == 200 && report.damagedCount == 0)
        }
    }

    /// The attributes of further names take the room of one inode, and those of the first are written after them.
    @Test(arguments: [1, 40])
    func everyNameKeepsItsURL(together: Int) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            let paths = (0..<40).map { "/a.png?copy=\($0)" }
            for first in stride(from: 0, to: paths.count, by: together) {
                try await fetch(fixture, Array(paths[first..<first + together]))
            }
            fixture.cache.writeAttributes()
            for path in paths {
                let key = try fixture.imageRequest(path).key
                #expect(fixture.cache.details(of: key).url == fixture.origin.url(path))
            }
        }
    }

    @Test func theBytesGoWithTheLastName() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            let paths = ["/a.png?1", "/a.png?2", "/a.png?3"]
            try await fetch(fixture, paths)
            let before = fixture.cache.statistics().bytesUsed
            #expect(try await fixture.remove(paths[0]) == Removal(entries: 1, bytes: 0))
            // Another program removes one.
            #expect(unlink(try fixture.file(paths[1])) == 0)
            #expect(try fixture.lookup(paths[1]).isMissing)
            #expect(try fixture.lookup(paths[2]).isCached)
            try await expectTrueFigures(fixture)
            #expect(fixture.cache.statistics().bytesUsed == before)
            let names = try attributeNames(fixture.file(paths[2]))
            let gone = EntryRecord.attributeName(of: try fixture.imageRequest(paths[0]).key)
            #expect(!names.contains { $0.hasPrefix(gone) })
            #expect(!names.contains("user.xdg.origin.url"))
            let removal = try await fixture.remove(paths[2])
            #expect(removal.entries == 1 && removal.bytes >= 50_000)
            try await expectTrueFigures(fixture)
        }
    }

    private func attributeNames(_ path: String) -> [String] {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = llistxattr(path, &buffer, buffer.count)
        return buffer[..<max(count, 0)].split(separator: 0).map {
            String(decoding: $0.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    /// New bytes for one URL replace that name only.
    @Test func otherBytesReplaceOneName() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            let paths = ["/a.png?1", "/a.png?2"]
            try await fetch(fixture, paths)
            let shared = try inode(fixture, paths[0])
            let other = SampleImage.png(byteCount: 50_000, seed: 9)
            fixture.origin.route(paths[0], .answer(body: other))
            let options = FetchOptions(isRefresh: true)
            #expect(try await fixture.fetch(paths[0], options: options).failures.isEmpty)
            #expect(try contents(of: fixture.file(paths[0])) == other)
            #expect(try inode(fixture, paths[1]) == shared)
            #expect(try contents(of: fixture.file(paths[1])) == image)
            try await expectTrueFigures(fixture)
            // The same bytes again join the file again.
            fixture.origin.route(paths[0], .answer(body: image))
            for _ in 0..<2 {
                #expect(try await fixture.fetch(paths[0], options: options).failures.isEmpty)
                #expect(try inode(fixture, paths[0]) == shared)
            }
            try await expectTrueFigures(fixture)
        }
    }

    @Test(arguments: [Errno.tooManyLinks, .notPermitted, .improperLink])
    func aRefusedLinkMakesAFile(cause: Errno) async throws {
        try await withTestScope { scope in
            // The first link is that of the name which opening the directory tries.
            let faults = FaultPlan(.linkat, nth: 2, cause, times: 1000)
            let fixture = try fixture(in: scope, faults: faults)
            // A download of more than 64 KiB has a partial, which is renamed and never linked.
            let image = SampleImage.png(byteCount: 100_000)
            fixture.origin.route("/a.png", .answer(body: image))
            try await fetch(fixture, ["/a.png?1"])
            try await fetch(fixture, ["/a.png?2"])
            #expect(faults.hasStruck)
            #expect(try inodes(fixture, ["/a.png?1", "/a.png?2"]).count == 2)
            #expect(try contents(of: fixture.file("/a.png?2")) == image)
            try await expectTrueFigures(fixture)
        }
    }

    /// If links are refused, but blocks can be shared, a new file shares those of the first. filefrag(8)
    @Test func aRefusedLinkSharesBlocks() async throws {
        try await withTestScope { scope in
            guard let disk = try await LoopFileSystem(sharingBlocksIn: scope) else {
                print("this machine can't make an XFS")
                return
            }
            let fixture = try fixture(
                in: scope, directory: "\(disk.path)/cache",
                faults: FaultPlan(.linkat, nth: 2, .notPermitted, times: 1000))
            let image = SampleImage.png(byteCount: 200_000)
            fixture.origin.route("/a.png", .answer(body: image))
            let paths = ["/a.png?1", "/a.png?2"]
            try await fetch(fixture, paths)
            #expect(try inodes(fixture, paths).count == 2)
            for path in paths { #expect(try contents(of: fixture.file(path)) == image) }
            let file = try fixture.file(paths[1])
            let extents = try await run("filefrag", ["-v", file])
            #expect(extents.text.contains("shared"), "\(extents.text)")
            try await expectTrueFigures(fixture)
        }
    }

    /// A changed byte is noticed although the record still says the digest.
    @Test func aDamagedOriginalGetsNoOtherName() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            try await fetch(fixture, ["/a.png?1"])
            let file = open(try fixture.file("/a.png?1"), O_WRONLY)
            #expect(pwrite(file, "x", 1, 40_000) == 1)
            close(file)
            try await fetch(fixture, ["/a.png?2"])
            #expect(try inodes(fixture, ["/a.png?1", "/a.png?2"]).count == 2)
            #expect(try contents(of: fixture.file("/a.png?2")) == image)
        }
    }

    @Test func budgetsAreMetInRealBytes() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            for number in 0..<4 {
                let other = SampleImage.png(byteCount: 50_000, seed: number + 1)
                fixture.origin.route("/\(number).png", .answer(body: other))
            }
            let shared = (0..<4).map { "/a.png?\($0)" }
            try await fetch(fixture, shared + (0..<4).map { "/\($0).png" })
            let used = fixture.cache.statistics().bytesUsed
            let removal = await withCheckedContinuation { continuation in
                fixture.cache.evict(toBytes: used - 1000) { removal, _ in
                    continuation.resume(returning: removal)
                }
            }
            // Four names are the least recently used, and only the last of them frees anything.
            #expect(removal.entries == 4 && removal.bytes >= 50_000)
            #expect(fixture.cache.statistics().entries == 4)
            try await expectTrueFigures(fixture)
        }
    }

    @Test func aKnownDigestNeedsNoDownload() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            try await fetch(fixture, ["/a.png"])
            let options = FetchOptions(digest: ContentDigest(of: image))
            let outcome = try await fixture.fetch("/mirror.png", options: options)
            #expect(outcome.failures.isEmpty)
            #expect(fixture.origin.requests("/mirror.png").isEmpty)
            #expect(try inodes(fixture, ["/a.png", "/mirror.png"]).count == 1)
            #expect(try details(fixture, "/mirror.png").url == fixture.origin.url("/mirror.png"))
            // No entry has these bytes, so they are downloaded.
            fixture.origin.route("/b.png", .answer(body: SampleImage.png()))
            let unknown = FetchOptions(digest: ContentDigest(of: [1]))
            #expect(try await fixture.fetch("/b.png", options: unknown).failures.isEmpty)
            #expect(fixture.origin.requests("/b.png").count == 1)
            // The origin has confirmed nothing about the second URL.
            fixture.origin.route("/mirror.png", .answer(body: image))
            #expect(try await fixture.fetch("/mirror.png").failures.isEmpty)
            #expect(fixture.origin.requests("/mirror.png").count == 1)
        }
    }

    // MARK: Keys that have an attribute's name in common

    /// Two paths whose keys begin with the same 32 bits. On average it takes 82,000 URLs to find them.
    private func colliding(_ origin: ScriptedOrigin) throws -> (victim: String, evil: String) {
        var seen: [UInt64: Int] = [:]
        for number in 0... {
            let url = try CacheURL(origin.url("/a.png?\(number)"))
            if let other = seen.updateValue(number, forKey: CacheKey(url).high >> 32) {
                return ("/a.png?\(other)", "/a.png?\(number)")
            }
        }
        throw TestFailure("no two keys begin alike")
    }

    private func expectUntouched(_ fixture: CacheFixture, _ path: String) throws {
        guard case .cached(let facts, _, _) = try fixture.lookup(path) else {
            throw TestFailure("\(path) is not cached")
        }
        #expect(facts.isPinned)
        #expect(try #require(facts.freshUntil) <= .now + 1000)
        let record = fixture.cache.directory.entryRecord(of: try fixture.imageRequest(path).key)
        #expect(record?.validators.entityTag == "\"victim\"")
        #expect(try details(fixture, path).url == fixture.origin.url(path))
    }

    /// Otherwise the two would have one record: one freshness, one entity tag, one pin.
    @Test(arguments: ["one after the other", "in one batch", "by their digest"])
    func keysWithOneAttributeShareNoFile(arrival: String) async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope)
            let fixture = try fixture(in: scope, directory: folder.file("cache"))
            let (victim, evil) = try colliding(fixture.origin)
            func serve(_ path: String, _ fields: HeaderFields) {
                fixture.origin.route(path, .answer(headers: fields, body: image))
            }
            serve(victim, ["Cache-Control": "max-age=1000", "ETag": "\"victim\""])
            serve(evil, ["Cache-Control": "max-age=90000", "ETag": "\"evil\""])
            serve("/other.png", ["Cache-Control": "max-age=90000"])
            if arrival == "in one batch" {
                let frozen = Latch()
                fixture.cache.worker.enqueue(.run { frozen.wait() })
                let requests = try [victim, evil].map { try fixture.imageRequest($0) }
                let waiter = fixture.cache.fetch(requests, FetchOptions())
                try await waitUntil("both images to be staged") {
                    let lookups = fixture.cache.lookup(requests.map(\.key))
                    return lookups.allSatisfy { $0.progress?.phase == .publishing }
                }
                frozen.open()
                #expect(try await fixture.outcome(of: waiter).failures.isEmpty)
            } else {
                try await fetch(fixture, [victim])
            }
            let key = try fixture.imageRequest(victim).key
            await withCheckedContinuation { continuation in
                fixture.cache.pin([key], true) { _ in continuation.resume() }
            }
            let digest = arrival == "by their digest" ? ContentDigest(of: image) : nil
            let outcome = try await fixture.fetch(evil, options: FetchOptions(digest: digest))
            #expect(outcome.failures.isEmpty)
            // Any other key shares the file.
            try await fetch(fixture, ["/other.png"])
            #expect(try inodes(fixture, [victim, evil]).count == 2)
            #expect(try inodes(fixture, [victim, evil, "/other.png"]).count == 2)
            try expectUntouched(fixture, victim)
            _ = try await fixture.remove(evil)
            try expectUntouched(fixture, victim)
            await CacheFixture.drain(fixture.cache)
            let second = try self.fixture(
                in: scope, directory: folder.file("cache"), origin: fixture.origin)
            try expectUntouched(second, victim)
        }
    }

    @Test func damageOfAFileIsThatOfAllItsNames() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            let paths = ["/a.png?1", "/a.png?2", "/a.png?3"]
            try await fetch(fixture, paths)
            let file = open(try fixture.file(paths[0]), O_WRONLY)
            #expect(pwrite(file, "x", 1, 1000) == 1)
            close(file)
            let requests = fixture.origin.requests().count
            let report = await fixture.verify(repairs: true)
            #expect(report.damagedCount == 3 && report.leftCount == 0)
            #expect(fixture.origin.requests().count == requests + 3)
            #expect(try contents(of: fixture.file(paths[2])) == image)
            try await expectTrueFigures(fixture)
        }
    }
}
