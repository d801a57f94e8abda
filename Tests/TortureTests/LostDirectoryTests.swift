import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The whole directory goes while the daemon runs: it says so, serves what it can, and goes on once there
/// is a directory again.
@Suite("Lost directory", .serialized, .timeLimit(.minutes(5)))
struct LostDirectoryTests {
    @Test func aDirectoryMovedAwayIsWaitedFor() async throws {
        try await Promise("a directory moved away is missed, and believed when it is back").test {
            figures in
            try await withTestScope { scope in
                let scene = try await Self.scene(in: scope)
                let away = scene.directory + ".away"
                let rounds = isLongForm ? 200 : 5
                for _ in 0..<rounds {
                    try #require(rename(scene.directory, away) == 0)
                    try await Self.expectLost(scene)
                    try #require(rename(away, scene.directory) == 0)
                    try await Self.expectWell(scene, downloads: 0)
                }
                // What is back before anybody has looked for it is nothing to speak of.
                try #require(rename(scene.directory, away) == 0)
                try await waitUntil("the log to say that it is lost") {
                    scene.daemon.log.contains("moved away or deleted")
                }
                try #require(rename(away, scene.directory) == 0)
                try await waitUntil("the log to say that it is back") {
                    scene.daemon.log.contains("well again")
                }
                figures.append("\(rounds) rounds")
            }
        }
    }

    /// Somebody may have moved it to keep it.
    @Test func nothingOfADirectoryThatWasMovedAwayIsRemoved() async throws {
        try await withTestScope { scope in
            let scene = try await Self.scene(in: scope)
            let away = scene.directory + ".away"
            try #require(rename(scene.directory, away) == 0)
            for (command, argument) in [
                ("remove", scene.urls[0]), ("remove", "--all"), ("evict", "--to=0"),
                ("pressure", "critical"),
            ] {
                let output = try await scene.daemon.cachectl(command, argument)
                #expect(output.status == .exited(1), "\(command)")
                #expect(output.errorText.contains("moved away"), "\(output.errorText)")
            }
            try #require(rename(away, scene.directory) == 0)
            try await Self.expectWell(scene, downloads: 0)
        }
    }

    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "this user may not mount file systems"))
    func whatCannotBeRemovedIsSaid() async throws {
        try await withTestScope { scope in
            let mount = try await SmallFileSystem(bytes: 32 << 20, in: scope)
            var options = DaemonFixture.Options()
            options.directory = mount.path + "/cache"
            options.arguments = ["--min-free", "0B"]
            let scene = try await FilledDirectory([900, 5000], options, in: scope)
            try await runSuccessfully("mount", ["-o", "remount,ro", mount.path])
            for (command, argument) in [
                ("remove", scene.urls[0]), ("remove", "--all"), ("evict", "--to=0"),
                ("pressure", "critical"),
            ] {
                let output = try await scene.daemon.cachectl(command, argument)
                #expect(output.status == .exited(1), "\(command)")
                #expect(
                    output.errorText.contains("could not be removed from"), "\(output.errorText)")
            }
            try await runSuccessfully("mount", ["-o", "remount,rw", mount.path])
            #expect(try await scene.daemon.cachectl("remove", "--all").status == .success)
        }
    }

    @Test func aDeletedDirectoryIsMadeAnew() async throws {
        try await Promise("a deleted directory is made anew and filled again").test { figures in
            try await withTestScope { scope in
                let scene = try await Self.scene(in: scope)
                let rounds = isLongForm ? 100 : 3
                for _ in 0..<rounds {
                    try await runSuccessfully("rm", ["-rf", scene.directory])
                    try await Self.expectWell(scene, downloads: scene.urls.count)
                    #expect(try await scene.verify().damagedCount == 0)
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: scene.directory)
                #expect(names.count == scene.urls.count + 2)
                try await Self.expectLocked(scene)
                figures.append("\(rounds) rounds")
            }
        }
    }

    @Test func aDirectoryWithoutItsParentComesBackWithIt() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            let parent = try TemporaryDirectory(in: scope).directory("parent")
            options.directory = parent + "/cache"
            let scene = try await FilledDirectory([900, 2000], options, in: scope)
            try await runSuccessfully("rm", ["-rf", parent])
            try await Self.expectLost(scene)
            #expect(access(parent, F_OK) != 0)
            try #require(mkdir(parent, 0o700) == 0)
            try await Self.expectWell(scene, downloads: 2)
        }
    }

    @Test func anotherDirectoryInItsPlaceIsTakenOver() async throws {
        try await Promise("another directory in its place is taken over, with its entries").test {
            figures in
            try await withTestScope { scope in
                let scene = try await Self.scene(in: scope)
                let other = scene.elsewhere.file("other")
                let rounds = isLongForm ? 50 : 2
                for round in 0..<rounds {
                    // A copy that lacks one image.
                    try await runSuccessfully("cp", ["-a", scene.directory, other])
                    try #require(unlink(other + "/" + (try scene.path(1)).suffix(36)) == 0)
                    let old = scene.elsewhere.file("old-\(round)")
                    try #require(rename(scene.directory, old) == 0)
                    try #require(rename(other, scene.directory) == 0)
                    try await Self.expectWell(scene, downloads: 1)
                    #expect(try contents(of: old + "/.lock").isEmpty == false)
                }
                // And an empty one.
                try #require(rename(scene.directory, other) == 0)
                try #require(mkdir(scene.directory, 0o700) == 0)
                try await Self.expectWell(scene, downloads: scene.urls.count)
                try await Self.expectLocked(scene)
                figures.append("\(rounds) rounds")
            }
        }
    }

    @Test func aDirectoryAnotherDaemonHoldsIsLeftToIt() async throws {
        try await withTestScope { scope in
            let scene = try await Self.scene(in: scope)
            let other = try await DaemonFixture.start(in: scope)
            try #require(rename(scene.directory, scene.elsewhere.file("old")) == 0)
            try #require(rename(other.directory, scene.directory) == 0)
            try await Self.expectLost(scene)
            try await waitUntil("the log to name the other") {
                scene.daemon.log.contains("process \(other.process.pid);")
            }
            try await other.stop()
            try await Self.expectWell(scene, downloads: scene.urls.count)
        }
    }

    @Test func downloadsUnderWayEndAndCanBeAskedForAgain() async throws {
        try await withTestScope { scope in
            let scene = try await Self.scene(in: scope)
            let image = SampleImage.png(byteCount: 50_000)
            scene.origin.route("/slow.png", .trickled(image, bytesPerSecond: 2000))
            let url = scene.origin.url("/slow.png")
            _ = try await scene.ask(Methods.Fetch.self, .init(urls: [url], wait: false))
            try await waitUntil("the first bytes") {
                try await scene.status([url]).first?.received ?? 0 > 0
            }
            try await runSuccessfully("rm", ["-rf", scene.directory])
            try await Self.expectWell(scene, downloads: scene.urls.count)
            scene.origin.route("/slow.png", .answer(body: image))
            try await scene.daemon.cachectl("remove", url)
            #expect(try await scene.fetch([url]).first?.state == .cached)
            #expect(try contents(of: try scene.path(url)) == image)
        }
    }

    /// Limits that are shares of the file system are shares of the one that is there.
    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "this user may not mount file systems"))
    func aFileSystemLaidOverItHasItsOwnLimits() async throws {
        try await withTestScope { scope in
            let scene = try await Self.scene(in: scope)
            func limits() async throws -> [JSONValue?] {
                let stats = try await scene.stats()
                return ["bytesBudget", "bytesMinFree"].map { stats[$0] }
            }
            let before = try await limits()
            let size = 16 << 20
            let mount = try await SmallFileSystem(bytes: size, over: scene.directory)
            do {
                try await Self.expectWell(scene, downloads: scene.urls.count)
                for case .int(let limit)? in try await limits() { #expect(limit <= size) }
                #expect(try await scene.verify().damagedCount == 0)
            } catch {
                try await mount.remove()
                throw error
            }
            try await mount.remove()
            try await Self.expectWell(scene, downloads: 0)
            #expect(try await limits() == before)
        }
    }

    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "this user may not mount file systems"))
    func aReadOnlyFileSystemServesWhatIsThere() async throws {
        try await Promise("a read-only file system serves what is there").test { figures in
            try await withTestScope { scope in
                let mount = try await SmallFileSystem(bytes: 32 << 20, in: scope)
                var options = DaemonFixture.Options()
                options.directory = mount.path + "/cache"
                options.arguments = ["--min-free", "0B"]
                let scene = try await FilledDirectory([900, 5000, 20_000], options, in: scope)
                scene.origin.route("/new.png", .answer(body: SampleImage.png(byteCount: 700)))
                let rounds = isLongForm ? 50 : 2
                for round in 0..<rounds {
                    try await runSuccessfully("mount", ["-o", "remount,ro", mount.path])
                    #expect(try await scene.stats()["isDirectoryWritable"] == false)
                    let new = scene.origin.url("/new.png?\(round)")
                    let items = try await scene.fetch(scene.urls + [new])
                    #expect(items.dropLast().allSatisfy { $0.state == .cached })
                    let failure = items.last?.failure
                    #expect(failure?.kind == "storage")
                    #expect(failure?.message.contains(scene.directory) == true)
                    #expect(failure?.message.contains("ead-only") == true)
                    #expect(try await scene.verify().checked == 3 + round)
                    if round == 0 {
                        try await waitUntil("the log to say so") {
                            scene.daemon.log.contains("the file system is read-only")
                        }
                    }
                    try await runSuccessfully("mount", ["-o", "remount,rw", mount.path])
                    #expect(try await scene.stats()["isDirectoryWritable"] == true)
                    #expect(try await scene.fetch([new]).first?.state == .cached)
                }
                figures.append("\(rounds) rounds")
            }
        }
    }

    // MARK: What all ask

    private static func scene(in scope: TestScope) async throws -> FilledDirectory {
        var options = DaemonFixture.Options()
        options.directory = try TemporaryDirectory(in: scope).file("cache")
        return try await FilledDirectory([900, 5000, 20_000], options, in: scope)
    }

    /// The daemon misses its directory, and names it to who wants something of it.
    private static func expectLost(_ scene: FilledDirectory) async throws {
        #expect(try await scene.status(scene.urls).allSatisfy { $0.state == .missing })
        let requests = scene.origin.requests().count
        for item in try await scene.fetch(scene.urls) {
            #expect(item.state == .missing && item.failure?.kind == "storage")
            #expect(item.failure?.message.contains(scene.directory) == true)
        }
        #expect(scene.origin.requests().count == requests)
        #expect(try await scene.stats()["isDirectoryInPlace"] == false)
        #expect(try await scene.verify().failure?.kind == "storage")
    }

    /// It has a directory again, and all images in it after so many downloads.
    private static func expectWell(_ scene: FilledDirectory, downloads: Int) async throws {
        try await waitUntil("the daemon to have its directory") {
            try await scene.stats()["isDirectoryInPlace"] == true
        }
        let requests = scene.origin.requests().count
        let items = try await scene.fetch(scene.urls)
        for item in items {
            #expect(item.state == .cached, "\(String(describing: item.failure))")
        }
        for number in scene.urls.indices { try scene.expectWhole(number) }
        #expect(scene.origin.requests().count == requests + downloads)
        try await scene.waitForScan()
        #expect(try await scene.stats()["entries"] == .int(scene.urls.count))
    }

    private static func expectLocked(_ scene: FilledDirectory) async throws {
        let output = try await run(
            BuiltProducts.program("cached"),
            ["--directory", scene.directory, "--socket", scene.elsewhere.file("s")],
            environment: minimalEnvironment())
        #expect(output.status == .exited(75))
        #expect(output.errorText.contains("process \(scene.daemon.process.pid);"))
    }
}
