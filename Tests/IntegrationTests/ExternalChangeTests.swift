import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The directory is the database: a change made by any program shows in the next reply.
@Suite("External changes", .serialized, .timeLimit(.minutes(5)))
struct ExternalChangeTests {
    /// A daemon with one cached image, called over one connection that stays open.
    fileprivate struct Fixture {
        let origin: ScriptedOrigin
        let daemon: DaemonFixture
        let connection: VarlinkConnection
        let elsewhere: TemporaryDirectory
        let url: String
        let path: String
        let image = SampleImage.png(byteCount: 900)

        init(in scope: TestScope) async throws {
            origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            url = origin.url("/a.png")
            daemon = try await DaemonFixture.start(in: scope)
            path = try daemon.path(url)
            connection = try daemon.connect()
            elsewhere = try TemporaryDirectory(in: scope)
            #expect(try await fetch().state == .cached)
        }

        func status() async throws -> Item {
            try #require(try await connection.ask(call("Status", [url])).items.first)
        }

        func fetch() async throws -> Item {
            try #require(try await connection.ask(call("Fetch", [url])).items.first)
        }
    }

    @Test func aDeletedFileIsMissingAtOnceAndCanBeFetchedAgain() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            for round in 1...20 {
                try #require(unlink(fixture.path) == 0)
                #expect(try await fixture.status().state == .missing)
                #expect(try await fixture.fetch().state == .cached)
                #expect(try contents(of: fixture.path) == fixture.image)
                #expect(fixture.origin.requests().count == 1 + round)
            }
        }
    }

    @Test func aFileMovedAwayIsMissingUntilItIsMovedBack() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            for place in [fixture.elsewhere.file("a"), fixture.daemon.directory + "/renamed"] {
                for _ in 0..<5 {
                    try #require(rename(fixture.path, place) == 0)
                    #expect(try await fixture.status().state == .missing)
                    try #require(rename(place, fixture.path) == 0)
                    #expect(try await fixture.status().state == .cached)
                }
            }
            #expect(fixture.origin.requests().count == 1)
        }
    }

    @Test func aFileRestoredWithItsAttributesIsCachedAgain() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let backup = fixture.elsewhere.file("a")
            try await runSuccessfully("cp", ["-a", fixture.path, backup])
            try #require(unlink(fixture.path) == 0)
            #expect(try await fixture.status().state == .missing)
            try await runSuccessfully("cp", ["-a", backup, fixture.path])
            let item = try await fixture.status()
            #expect(item.state == .cached)
            #expect(item.size == 900 && item.mediaType == "image/png")
            #expect(try await fixture.fetch().state == .cached)
            #expect(fixture.origin.requests().count == 1)
        }
    }

    @Test func aFileThatContradictsItsRecordIsMissingAndReplaced() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let other = try fixture.elsewhere.write(Array(fixture.image.dropLast()), to: "short")
            let damages: [(String, () async throws -> Void)] = [
                ("truncated", { try #require(truncate(fixture.path, 400) == 0) }),
                ("emptied", { try #require(truncate(fixture.path, 0) == 0) }),
                (
                    "copied without attributes",
                    {
                        try await runSuccessfully(
                            "cp", ["--remove-destination", other, fixture.path])
                    }
                ),
                (
                    "without its record",
                    {
                        let name = try recordName(fixture.url)
                        try await runSuccessfully("setfattr", ["-x", name, fixture.path])
                    }
                ),
                (
                    "another's record",
                    {
                        let name = try recordName(fixture.url)
                        try ExtendedAttributes(of: fixture.path).set(
                            name, DiskRecord.bytes(size: 1, fetched: 1_790_000_000))
                    }
                ),
                (
                    "no record at all",
                    {
                        let name = try recordName(fixture.url)
                        try ExtendedAttributes(of: fixture.path).set(name, "v9 nonsense")
                    }
                ),
            ]
            for (name, damage) in damages {
                try await damage()
                #expect(try await fixture.status().state == .missing, "\(name)")
                #expect(try await fixture.fetch().state == .cached, "\(name)")
                #expect(try contents(of: fixture.path) == fixture.image, "\(name)")
            }
        }
    }

    @Test func linksAndFIFOsAreMissingAndReplacedWithoutBeingFollowed() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let precious = try fixture.elsewhere.write("precious", to: "precious")
            let obstacles: [(String, () throws -> Void)] = [
                ("symlink", { try #require(symlink(precious, fixture.path) == 0) }),
                ("dangling", { try #require(symlink("/nonexistent/a", fixture.path) == 0) }),
                ("FIFO", { try #require(mkfifo(fixture.path, 0o600) == 0) }),
            ]
            for (name, makeObstacle) in obstacles {
                try #require(unlink(fixture.path) == 0)
                try makeObstacle()
                #expect(try await fixture.status().state == .missing, "\(name)")
                #expect(try await fixture.fetch().state == .cached, "\(name)")
                var status = stat()
                #expect(lstat(fixture.path, &status) == 0)
                #expect(status.st_mode & S_IFMT == S_IFREG, "\(name)")
                #expect(try contents(of: fixture.path) == fixture.image, "\(name)")
            }
            #expect(try contents(of: precious) == Array("precious".utf8))
        }
    }

    @Test func anObstacleUnderAPartialNameIsNotWrittenThrough() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let precious = try fixture.elsewhere.write("precious", to: "precious")
            let partial = fixture.path + ".part"
            let obstacles: [(String, () throws -> Void)] = [
                ("symlink", { try #require(symlink(precious, partial) == 0) }),
                ("hard link", { try #require(link(precious, partial) == 0) }),
                ("FIFO", { try #require(mkfifo(partial, 0o600) == 0) }),
            ]
            for (name, makeObstacle) in obstacles {
                unlink(partial)
                try #require(unlink(fixture.path) == 0)
                try makeObstacle()
                let item = try await fixture.fetch()
                #expect(item.state == .cached, "\(name): \(String(describing: item.failure))")
                #expect(try contents(of: precious) == Array("precious".utf8), "\(name)")
            }
        }
    }

    @Test func aDirectoryUnderAnEntryNameIsMissingAndObstructsFetches() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            try #require(unlink(fixture.path) == 0)
            try #require(mkdir(fixture.path, 0o700) == 0)
            #expect(try await fixture.status().state == .missing)
            let item = try await fixture.fetch()
            #expect(item.state == .missing)
            #expect(item.failure?.kind == "obstructed")
            #expect(item.failure?.message.contains(fixture.path) == true)
            try #require(rmdir(fixture.path) == 0)
            #expect(try await fixture.fetch().state == .cached)
        }
    }

    @Test func foreignFilesAreNeitherListedNorTouched() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let names = ["notes.txt", "550e8400-e29b-41d4-a716-446655440000", "x.part"]
            for name in names {
                try Data("mine".utf8).write(
                    to: URL(fileURLWithPath: "\(fixture.daemon.directory)/\(name)"))
            }
            let again = try await fixture.restarted()
            try await again.waitForScan()
            #expect(try await again.ask(call("List")).items.map(\.url) == [fixture.url])
            #expect(try await again.cachectl("remove", "--all").status == .success)
            #expect(try again.names(excluding: []) == names.sorted())
        }
    }

    @Test func aReplacedDirectoryIsNoticedAtOnce() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let moved = fixture.elsewhere.file("moved")
            try #require(rename(fixture.daemon.directory, moved) == 0)
            #expect(try await fixture.status().state == .missing)
            try #require(rename(moved, fixture.daemon.directory) == 0)
            #expect(try await fixture.status().state == .cached)
        }
    }

    @Test func changesBeyondTheInotifyQueueAreAllSeenAtOnce() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let urls = try fixture.copies(4000)
            let places = try urls.map { url in
                let path = try fixture.daemon.path(url)
                return (path, fixture.elsewhere.file(String(path.suffix(36))))
            }
            // The first call processes the events of the copying.
            #expect(try await fixture.count(.cached, urls) == urls.count)
            // 20,000 events; the queue holds 16,384 (inotify(7), max_queued_events).
            for round in 0..<5 {
                for (here, there) in places {
                    let isGone = round.isMultiple(of: 2)
                    try #require((isGone ? rename(here, there) : rename(there, here)) == 0)
                }
            }
            #expect(try await fixture.count(.missing, urls) == urls.count)
            #expect(try await fixture.status().state == .cached)
            for (here, there) in places { try #require(rename(there, here) == 0) }
            #expect(try await fixture.count(.cached, urls) == urls.count)
        }
    }

    @Test func removingAllDuringTheScanLeavesNothing() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            _ = try fixture.copies(3000)
            let again = try await fixture.restarted()
            let removed = try await again.ask(call("Remove", parameters: #""all":true"#))
            #expect(removed.parameters?.entries == 3001)
            #expect(try again.names(excluding: []).isEmpty)
        }
    }

    @Test func theFirstReplyAfterARestartIsCachedDuringTheScan() async throws {
        try await withTestScope { scope in
            let fixture = try await Fixture(in: scope)
            let urls = try fixture.copies(20_000)
            var daemon = fixture.daemon
            for crash in [false, true] {
                daemon = try await daemon.replace(afterCrash: crash)
                let again = daemon
                let asked = [urls[7], urls[19_999], fixture.url]
                let items = try await again.ask(call("Status", asked)).items
                #expect(items.map(\.state) == [.cached, .cached, .cached])
                try await again.waitForScan()
                #expect(try await again.metric("entries") == urls.count + 1)
                #expect(try await again.metric("bytesUsed") >= (urls.count + 1) * 900)
            }
            #expect(fixture.origin.requests().count == 1)
        }
    }
}

extension ExternalChangeTests.Fixture {
    /// Starts another daemon on the directory.
    fileprivate func restarted() async throws -> DaemonFixture {
        if daemon.process.exitStatus == nil { try await daemon.stop() }
        return try await daemon.restart()
    }

    /// The number of URLs in this state.
    fileprivate func count(_ state: Item.State, _ urls: [String]) async throws -> Int {
        try await connection.ask(call("Status", urls)).items.count { $0.state == state }
    }

    /// Creates entries of URLs that were never fetched: copies of the image, with their own records.
    fileprivate func copies(_ count: Int) throws -> [String] {
        let record = try #require(
            try ExtendedAttributes(of: path).bytes(of: try recordName(url)))
        return try (0..<count).map { number in
            let url = "http://copies.example/\(number).png"
            let copy = try daemon.path(url)
            try writeFile(image, to: copy)
            try ExtendedAttributes(of: copy).set(try recordName(url), record)
            return url
        }
    }
}
