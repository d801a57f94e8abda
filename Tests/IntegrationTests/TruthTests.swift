import CacheKey
import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The directory is the database: whatever happens there is said at the very next question.
@Suite("Truth", .serialized, .timeLimit(.minutes(5)))
struct TruthTests {
    /// A daemon with one image, asked over one connection that stays open.
    fileprivate struct Scene {
        let origin: ScriptedOrigin
        let daemon: DaemonFixture
        let connection: Varlink
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

    @Test func aDeletedFileIsMissingAtOnceAndComesBackByFetch() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            for round in 1...20 {
                try #require(unlink(scene.path) == 0)
                #expect(try await scene.status().state == .missing)
                #expect(try await scene.fetch().state == .cached)
                #expect(try contents(of: scene.path) == scene.image)
                #expect(scene.origin.requests().count == 1 + round)
            }
        }
    }

    @Test func aFileMovedAwayAndBackIsMissingAndCachedAgain() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            for place in [scene.elsewhere.file("a"), scene.daemon.directory + "/stranger"] {
                for _ in 0..<5 {
                    try #require(rename(scene.path, place) == 0)
                    #expect(try await scene.status().state == .missing)
                    try #require(rename(place, scene.path) == 0)
                    #expect(try await scene.status().state == .cached)
                }
            }
            #expect(scene.origin.requests().count == 1)
        }
    }

    @Test func aFileRestoredWithItsAttributesIsCachedAgain() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let backup = scene.elsewhere.file("a")
            try await runSuccessfully("cp", ["-a", scene.path, backup])
            try #require(unlink(scene.path) == 0)
            #expect(try await scene.status().state == .missing)
            try await runSuccessfully("cp", ["-a", backup, scene.path])
            let item = try await scene.status()
            #expect(item.state == .cached)
            #expect(item.size == 900 && item.mediaType == "image/png")
            #expect(try await scene.fetch().state == .cached)
            #expect(scene.origin.requests().count == 1)
        }
    }

    @Test func aFileThatIsNotItsRecordsIsMissingAndReplaced() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let other = try scene.elsewhere.write(Array(scene.image.dropLast()), to: "short")
            let damages: [(String, () async throws -> Void)] = [
                ("truncated", { try #require(truncate(scene.path, 400) == 0) }),
                ("emptied", { try #require(truncate(scene.path, 0) == 0) }),
                (
                    "copied without attributes",
                    {
                        try await runSuccessfully(
                            "cp", ["--remove-destination", other, scene.path])
                    }
                ),
                (
                    "without its record",
                    {
                        let name = try recordName(scene.url)
                        try await runSuccessfully("setfattr", ["-x", name, scene.path])
                    }
                ),
                (
                    "another's record",
                    {
                        let name = try recordName(scene.url)
                        try ExtendedAttributes(of: scene.path).set(name, "v1 size=1 type=image/png")
                    }
                ),
                (
                    "no record at all",
                    {
                        let name = try recordName(scene.url)
                        try ExtendedAttributes(of: scene.path).set(name, "v9 nonsense")
                    }
                ),
            ]
            for (name, damage) in damages {
                try await damage()
                #expect(try await scene.status().state == .missing, "\(name)")
                #expect(try await scene.fetch().state == .cached, "\(name)")
                #expect(try contents(of: scene.path) == scene.image, "\(name)")
            }
        }
    }

    @Test func whatIsNoFileIsMissingAndReplacedWithoutBeingFollowed() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let precious = try scene.elsewhere.write("precious", to: "precious")
            let obstacles: [(String, () throws -> Void)] = [
                ("symlink", { try #require(symlink(precious, scene.path) == 0) }),
                ("dangling", { try #require(symlink("/nonexistent/a", scene.path) == 0) }),
                ("FIFO", { try #require(mkfifo(scene.path, 0o600) == 0) }),
            ]
            for (name, makeObstacle) in obstacles {
                try #require(unlink(scene.path) == 0)
                try makeObstacle()
                #expect(try await scene.status().state == .missing, "\(name)")
                #expect(try await scene.fetch().state == .cached, "\(name)")
                var status = stat()
                #expect(lstat(scene.path, &status) == 0)
                #expect(status.st_mode & S_IFMT == S_IFREG, "\(name)")
                #expect(try contents(of: scene.path) == scene.image, "\(name)")
            }
            #expect(try contents(of: precious) == Array("precious".utf8))
        }
    }

    @Test func anObstacleUnderThePartialsNameIsNotWrittenThrough() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let precious = try scene.elsewhere.write("precious", to: "precious")
            let partial = scene.path + ".part"
            let obstacles: [(String, () throws -> Void)] = [
                ("symlink", { try #require(symlink(precious, partial) == 0) }),
                ("hard link", { try #require(link(precious, partial) == 0) }),
                ("FIFO", { try #require(mkfifo(partial, 0o600) == 0) }),
            ]
            for (name, makeObstacle) in obstacles {
                unlink(partial)
                try #require(unlink(scene.path) == 0)
                try makeObstacle()
                let item = try await scene.fetch()
                #expect(item.state == .cached, "\(name): \(String(describing: item.failure))")
                #expect(try contents(of: precious) == Array("precious".utf8), "\(name)")
            }
        }
    }

    @Test func aDirectoryUnderANameIsMissingAndObstructs() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            try #require(unlink(scene.path) == 0)
            try #require(mkdir(scene.path, 0o700) == 0)
            #expect(try await scene.status().state == .missing)
            let item = try await scene.fetch()
            #expect(item.state == .missing)
            #expect(item.failure?.kind == "obstructed")
            #expect(item.failure?.message.contains(scene.path) == true)
            try #require(rmdir(scene.path) == 0)
            #expect(try await scene.fetch().state == .cached)
        }
    }

    @Test func whatAStrangerLaidThereIsNeitherListedNorTouched() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let names = ["notes.txt", "550e8400-e29b-41d4-a716-446655440000", "x.part"]
            for name in names {
                try Data("mine".utf8).write(
                    to: URL(fileURLWithPath: "\(scene.daemon.directory)/\(name)"))
            }
            let again = try await scene.restarted()
            try await again.waitForScan()
            #expect(try await again.ask(call("List")).items.map(\.url) == [scene.url])
            #expect(try await again.cachectl("remove", "--all").status == .success)
            #expect(try again.names(besides: []) == names.sorted())
        }
    }

    @Test func aDirectoryThatWasReplacedIsSeenForWhatItIs() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let moved = scene.elsewhere.file("moved")
            try #require(rename(scene.daemon.directory, moved) == 0)
            #expect(try await scene.status().state == .missing)
            try #require(rename(moved, scene.daemon.directory) == 0)
            #expect(try await scene.status().state == .cached)
        }
    }

    @Test func changesBeyondWhatTheKernelKeepsAreAllSeenAtOnce() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let urls = try scene.copies(4000)
            let places = try urls.map { url in
                let path = try scene.daemon.path(url)
                return (path, scene.elsewhere.file(String(path.suffix(36))))
            }
            // The first question takes in what the copying has left.
            #expect(try await scene.count(.cached, urls) == urls.count)
            // 20,000 events; a queue holds 16,384 (inotify(7), max_queued_events).
            for round in 0..<5 {
                for (here, there) in places {
                    let isGone = round.isMultiple(of: 2)
                    try #require((isGone ? rename(here, there) : rename(there, here)) == 0)
                }
            }
            #expect(try await scene.count(.missing, urls) == urls.count)
            #expect(try await scene.status().state == .cached)
            for (here, there) in places { try #require(rename(there, here) == 0) }
            #expect(try await scene.count(.cached, urls) == urls.count)
        }
    }

    @Test func removingAllLeavesNothingEvenWhileTheScanGoesOn() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            _ = try scene.copies(3000)
            let again = try await scene.restarted()
            let removed = try await again.ask(call("Remove", parameters: #""all":true"#))
            #expect(removed.parameters?.entries == 3001)
            #expect(try again.names(besides: []).isEmpty)
        }
    }

    @Test func theFirstAnswerAfterARestartIsCachedWhileTheScanGoesOn() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let urls = try scene.copies(20_000)
            var daemon = scene.daemon
            for crash in [false, true] {
                if crash { try await daemon.kill() } else { try await daemon.stop() }
                daemon = try await daemon.restart()
                let again = daemon
                let asked = [urls[7], urls[19_999], scene.url]
                let items = try await again.ask(call("Status", asked)).items
                #expect(items.map(\.state) == [.cached, .cached, .cached])
                try await again.waitForScan()
                #expect(try await again.figure("entries") == urls.count + 1)
                #expect(try await again.figure("bytesUsed") >= (urls.count + 1) * 900)
            }
            #expect(scene.origin.requests().count == 1)
        }
    }
}

extension TruthTests.Scene {
    /// Another daemon on the directory.
    fileprivate func restarted() async throws -> DaemonFixture {
        if daemon.process.exitStatus == nil { try await daemon.stop() }
        return try await daemon.restart()
    }

    /// How many of the URLs are in this state.
    fileprivate func count(_ state: Item.State, _ urls: [String]) async throws -> Int {
        try await connection.ask(call("Status", urls)).items.count { $0.state == state }
    }

    /// Entries for URLs nobody has fetched: the image under their names, with records of their own.
    fileprivate func copies(_ count: Int) throws -> [String] {
        let record = try #require(try ExtendedAttributes(of: path)[try recordName(url)])
        return try (0..<count).map { number in
            let url = "http://copies.example/\(number).png"
            let copy = try daemon.path(url)
            try writeFile(image, to: copy)
            try ExtendedAttributes(of: copy).set(try recordName(url), record)
            return url
        }
    }
}
