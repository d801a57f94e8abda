import CLinux
import CacheKey
import CacheSamples
import CacheValues
import Glibc
import HTTPCaching
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// An image is published with its record alone, and its other attributes follow. A daemon that is killed meanwhile
/// leaves an entry without them.
@Suite("Attributes that follow a publication", .timeLimit(.minutes(5)))
struct UnwrittenAttributesTests {
    private let image = SampleImage.png(byteCount: 5000)

    private func publish(_ images: [StagedImage], in folder: CacheFolder) {
        #expect(folder.publishAlone(images).allSatisfy { $0.failure == nil })
    }

    private func attributes(of path: String) throws -> [String] {
        try ExtendedAttributes(of: path).names().filter { $0.hasPrefix("user.") }.sorted()
    }

    @Test func theyAreReadFromMemoryUntilTheyAreWritten() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            let (directory, key) = (folder.directory, Sample.key("a"))
            publish([folder.held("a")], in: folder)
            let record = EntryRecord.attributeName(of: key)
            #expect(try attributes(of: folder.file("a")) == [record])
            for isWritten in [false, true] {
                if isWritten { directory.writeAttributes(of: key) }
                #expect(try directory.url(of: key) == Sample.url("a").string)
                #expect(try directory.digest(of: key) == ContentDigest(of: Sample.bytes("a")))
                let entry = try #require(directory.entryRecord(of: key))
                #expect(entry.validators == Sample.record(size: 5).validators)
                #expect(entry.awaitsAttributes == !isWritten)
            }
            #expect(
                try attributes(of: folder.file("a")) == [
                    record, record + ".validators", "user.mime_type", "user.xdg.origin.url",
                ])
            #expect(directory.unwritten.keys.isEmpty)
        }
    }

    @Test func theyAreNotWrittenToAFileThatHasTakenTheName() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            publish([folder.held("a")], in: folder)
            // The number of its inode is not used again.
            let old = open(folder.file("a"), O_RDONLY)
            defer { close(old) }
            #expect(unlink(folder.file("a")) == 0)
            try folder.write("another", to: folder.file("a"))
            #expect(try folder.directory.url(of: Sample.key("a")) == nil)
            folder.directory.writeAttributes(of: Sample.key("a"))
            #expect(try attributes(of: folder.file("a")) == [])
        }
    }

    /// Two names of one file, one of which is published while the file lacks the attributes of the other.
    @Test func eachNameOfAFileGetsItsOwn() async throws {
        try await withTestScope { scope in
            let folder = try CacheFolder(in: scope)
            publish(["a", "b"].map { folder.held($0, image) }, in: folder)
            #expect(folder.status(folder.file("a"))?.st_nlink == 2)
            folder.directory.writeAttributes(of: Sample.key("a"))
            for name in ["a", "b"] {
                let key = Sample.key(name)
                #expect(try folder.directory.url(of: key) == Sample.url(name).string)
                #expect(try folder.directory.digest(of: key) == ContentDigest(of: image))
                #expect(folder.directory.entryRecord(of: key)?.awaitsAttributes == false)
            }
        }
    }

    @Test func theEndOfTheDaemonWritesThem() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            await CacheFixture.drain(fixture.cache)
            #expect(try attributes(of: fixture.file("/a.png")).count == 4)
        }
    }

    // MARK: After a kill

    /// A cache over an entry `/a.png` with its record alone.
    private func left(
        freshUntil: UnixTime, damages: Bool = false, in scope: TestScope
    ) throws -> CacheFixture {
        let origin = try ScriptedOrigin(in: scope)
        let directory = try TemporaryDirectory(in: scope).file("cache")
        let url = try CacheURL(origin.url("/a.png"))
        do {
            let folder = try CacheFolder(at: directory)
            var record = Sample.record(size: Int64(image.count))
            record.freshUntil = freshUntil
            let staged = StagedImage(
                flight: FlightID(rawValue: 1), key: CacheKey(url), body: .bytes(image), url: url,
                record: record)
            publish([staged], in: folder)
        }
        if damages {
            let file = open("\(directory)/\(CacheKey(url))", O_WRONLY)
            defer { close(file) }
            #expect(pwrite(file, "x", 1, 1000) == 1)
        }
        origin.route("/a.png", .answer(headers: ["ETag": "\"x2\""], body: image))
        let fixture = try CacheFixture(in: scope, directory: directory, origin: origin)
        fixture.cache.waitForScan()
        return fixture
    }

    @Test func anEntryLearnsItsURLWhenItIsAskedFor() async throws {
        try await withTestScope { scope in
            let fixture = try left(freshUntil: .now + 1000, in: scope)
            let key = try fixture.imageRequest("/a.png").key
            #expect(try fixture.lookup("/a.png").isCached)
            #expect(fixture.cache.details(of: key).url == nil)
            let report = await fixture.verify()
            #expect(report.checked == 1 && report.damagedCount == 0)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().isEmpty)
            let attributes = try await ExtendedAttributes.all(of: try fixture.file("/a.png"))
            #expect(try attributes["user.mime_type"] == "image/png")
            let details = fixture.cache.details(of: key)
            #expect(details.url == fixture.origin.url("/a.png"))
            #expect(details.sha256 == ContentDigest(of: image))
            #expect(await fixture.verify().damagedCount == 0)
        }
    }

    @Test func anEntryIsConfirmedByAFullDownload() async throws {
        try await withTestScope { scope in
            let fixture = try left(freshUntil: .now + (-1000), in: scope)
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().map { $0.headers["If-None-Match"] } == [nil])
            let key = try fixture.imageRequest("/a.png").key
            let details = fixture.cache.details(of: key, withOrigin: true)
            #expect(details.url == fixture.origin.url("/a.png"))
            #expect(details.origin?.entityTag == "\"x2\"")
        }
    }

    @Test func aDamagedEntryIsFound() async throws {
        try await withTestScope { scope in
            let fixture = try left(freshUntil: .now + 1000, damages: true, in: scope)
            #expect(await fixture.verify().damaged.map(\.damage) == [.wrongBytes])
        }
    }
}
