import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The whole directory disappears while the daemon runs. The daemon says so, serves what it can, and
/// continues once a directory is there again.
@Suite("Lost directory", .serialized, .timeLimit(.minutes(5)))
struct LostDirectoryTests {
    @Test func aDirectoryMovedAwayIsUsedAgainWhenItReturns() async throws {
        try await Promise("a directory moved away is missed, and trusted when it is back").test {
            figures in
            try await withTestScope { scope in
                let fixture = try await Self.fixture(in: scope)
                let away = fixture.directory + ".away"
                let rounds = isLongForm ? 200 : 5
                for _ in 0..<rounds {
                    try #require(rename(fixture.directory, away) == 0)
                    try await Self.expectLost(fixture)
                    try #require(rename(away, fixture.directory) == 0)
                    try await Self.expectWell(fixture, downloads: 0)
                }
                // A directory that returns before any call is made is noticed too.
                try #require(rename(fixture.directory, away) == 0)
                try await waitUntil("the log to report the loss") {
                    fixture.daemon.log.contains("moved away or deleted")
                }
                try #require(rename(away, fixture.directory) == 0)
                try await waitUntil("the log to report the return") {
                    fixture.daemon.log.contains("usable again")
                }
                figures.append("\(rounds) rounds")
            }
        }
    }

    /// A user may have moved it to keep it.
    @Test func nothingIsRemovedFromADirectoryThatWasMovedAway() async throws {
        try await withTestScope { scope in
            let fixture = try await Self.fixture(in: scope)
            let away = fixture.directory + ".away"
            try #require(rename(fixture.directory, away) == 0)
            for (command, argument) in [
                ("remove", fixture.urls[0]), ("remove", "--all"), ("evict", "--to=0"),
                ("pressure", "critical"),
            ] {
                let output = try await fixture.daemon.cachectl(command, argument)
                #expect(output.status == .exited(1), "\(command)")
                #expect(output.errorText.contains("moved away"), "\(output.errorText)")
            }
            try #require(rename(away, fixture.directory) == 0)
            try await Self.expectWell(fixture, downloads: 0)
        }
    }

    /// The folder above is gone as well, so the daemon cannot make its directory again.
    @Test func aDaemonWhoseFolderIsGoneRests() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            var options = DaemonFixture.Options()
            options.directory = try home.directory("above") + "/cache"
            options.environment["CACHED_RESTRICT"] = "partly"
            let daemon = try await DaemonFixture.start(options, in: scope)
            try await daemon.process.waitForLine(containing: "directory scanned")
            try FileManager.default.removeItem(atPath: home.file("above"))
            try await daemon.process.waitForLine(containing: "moved away or deleted")
            let before = try Self.turns(of: daemon.process.pid)
            try await Task.sleep(for: .seconds(3))
            let turns = try Self.turns(of: daemon.process.pid) - before
            #expect(turns < 30, "the thread slept \(turns) times in 3 seconds")
        }
    }

    /// How often the maintenance thread of a process has slept. proc(5), `voluntary_ctxt_switches`.
    private static func turns(of process: Int32) throws -> Int {
        let tasks = "/proc/\(process)/task"
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            let name = try String(contentsOfFile: "\(tasks)/\(task)/comm", encoding: .utf8)
            guard name == "maintenance\n" else { continue }
            return try ProcessUsage.status("voluntary_ctxt_switches", of: Int32(task) ?? 0)
        }
        throw TestFailure("the process has no maintenance thread")
    }

    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "this user is not allowed to mount"))
    func filesThatCannotBeRemovedAreReported() async throws {
        try await withTestScope { scope in
            let mount = try await SmallFileSystem(bytes: 32 << 20, in: scope)
            var options = DaemonFixture.Options()
            options.directory = mount.path + "/cache"
            options.arguments = ["--min-free", "0B"]
            let fixture = try await FilledDirectory([900, 5000], options, in: scope)
            try await runSuccessfully("mount", ["-o", "remount,ro", mount.path])
            for (command, argument) in [
                ("remove", fixture.urls[0]), ("remove", "--all"), ("evict", "--to=0"),
                ("pressure", "critical"),
            ] {
                let output = try await fixture.daemon.cachectl(command, argument)
                #expect(output.status == .exited(1), "\(command)")
                #expect(
                    output.errorText.contains("could not be removed from"), "\(output.errorText)")
            }
            try await runSuccessfully("mount", ["-o", "remount,rw", mount.path])
            #expect(try await fixture.daemon.cachectl("remove", "--all").status == .success)
        }
    }

    @Test func aDeletedDirectoryIsRecreated() async throws {
        try await Promise("a deleted directory is recreated and filled again").test { figures in
            try await withTestScope { scope in
                let fixture = try await Self.fixture(in: scope)
                let rounds = isLongForm ? 100 : 3
                for _ in 0..<rounds {
                    try await runSuccessfully("rm", ["-rf", fixture.directory])
                    try await Self.expectWell(fixture, downloads: fixture.urls.count)
                    #expect(try await fixture.verify().damagedCount == 0)
                }
                try await waitUntil("the images, the lock and the tag alone") {
                    // The history is written every two seconds.
                    try FileManager.default.contentsOfDirectory(atPath: fixture.directory)
                        .count { $0 != ".history" } == fixture.urls.count + 2
                }
                try await Self.expectLocked(fixture)
                figures.append("\(rounds) rounds")
            }
        }
    }

    @Test func aDirectoryIsRecreatedOnceItsParentReturns() async throws {
        try await withTestScope { scope in
            var options = DaemonFixture.Options()
            let parent = try TemporaryDirectory(in: scope).directory("parent")
            options.directory = parent + "/cache"
            options.environment["CACHED_RESTRICT"] = "partly"
            let fixture = try await FilledDirectory([900, 2000], options, in: scope)
            try await runSuccessfully("rm", ["-rf", parent])
            try await Self.expectLost(fixture)
            #expect(access(parent, F_OK) != 0)
            try #require(mkdir(parent, 0o700) == 0)
            try await Self.expectWell(fixture, downloads: 2)
        }
    }

    @Test func aReplacementDirectoryIsAdopted() async throws {
        try await Promise("a replacement directory is adopted, with its entries").test {
            figures in
            try await withTestScope { scope in
                let fixture = try await Self.fixture(in: scope)
                let other = fixture.elsewhere.file("other")
                let rounds = isLongForm ? 50 : 2
                for round in 0..<rounds {
                    // A copy that lacks one image.
                    try await runSuccessfully("cp", ["-a", fixture.directory, other])
                    try #require(unlink(other + "/" + (try fixture.path(1)).suffix(36)) == 0)
                    let old = fixture.elsewhere.file("old-\(round)")
                    try #require(rename(fixture.directory, old) == 0)
                    try #require(rename(other, fixture.directory) == 0)
                    try await Self.expectWell(fixture, downloads: 1)
                    #expect(try contents(of: old + "/.lock").isEmpty == false)
                }
                // An empty directory as the replacement.
                try #require(rename(fixture.directory, other) == 0)
                try #require(mkdir(fixture.directory, 0o700) == 0)
                try await Self.expectWell(fixture, downloads: fixture.urls.count)
                try await Self.expectLocked(fixture)
                figures.append("\(rounds) rounds")
            }
        }
    }

    @Test func aDirectoryLockedByAnotherDaemonIsLeftAlone() async throws {
        try await withTestScope { scope in
            let fixture = try await Self.fixture(in: scope)
            let other = try await DaemonFixture.start(in: scope)
            try #require(rename(fixture.directory, fixture.elsewhere.file("old")) == 0)
            try #require(rename(other.directory, fixture.directory) == 0)
            try await Self.expectLost(fixture)
            try await waitUntil("the log to name the other daemon") {
                fixture.daemon.log.contains("process \(other.process.pid);")
            }
            try await other.stop()
            try await Self.expectWell(fixture, downloads: fixture.urls.count)
        }
    }

    @Test func downloadsInProgressEndAndCanBeRetried() async throws {
        try await withTestScope { scope in
            let fixture = try await Self.fixture(in: scope)
            let image = SampleImage.png(byteCount: 50_000)
            fixture.origin.route("/slow.png", .trickled(image, bytesPerSecond: 2000))
            let url = fixture.origin.url("/slow.png")
            _ = try await fixture.ask(Methods.Fetch.self, .init(urls: [url], wait: false))
            try await waitUntil("the first bytes") {
                try await fixture.status([url]).first?.received ?? 0 > 0
            }
            try await runSuccessfully("rm", ["-rf", fixture.directory])
            try await Self.expectWell(fixture, downloads: fixture.urls.count)
            fixture.origin.route("/slow.png", .answer(body: image))
            try await fixture.daemon.cachectl("remove", url)
            #expect(try await fixture.fetch([url]).first?.state == .cached)
            #expect(try contents(of: try fixture.path(url)) == image)
        }
    }

    /// Limits given as a share of the file system apply to the file system that is there now.
    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "this user is not allowed to mount"))
    func aFileSystemMountedOverTheDirectoryHasItsOwnLimits() async throws {
        try await withTestScope { scope in
            let fixture = try await Self.fixture(in: scope)
            func limits() async throws -> [JSONValue?] {
                let stats = try await fixture.stats()
                return ["bytesBudget", "bytesMinFree"].map { stats[$0] }
            }
            let before = try await limits()
            let size = 16 << 20
            let mount = try await SmallFileSystem(bytes: size, over: fixture.directory)
            do {
                try await Self.expectWell(fixture, downloads: fixture.urls.count)
                for case .int(let limit)? in try await limits() { #expect(limit <= size) }
                #expect(try await fixture.verify().damagedCount == 0)
            } catch {
                try await mount.remove()
                throw error
            }
            try await mount.remove()
            try await Self.expectWell(fixture, downloads: 0)
            #expect(try await limits() == before)
        }
    }

    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "this user is not allowed to mount"))
    func aReadOnlyFileSystemServesCachedImages() async throws {
        try await Promise("a read-only file system serves cached images").test { figures in
            try await withTestScope { scope in
                let mount = try await SmallFileSystem(bytes: 32 << 20, in: scope)
                var options = DaemonFixture.Options()
                options.directory = mount.path + "/cache"
                options.arguments = ["--min-free", "0B"]
                let fixture = try await FilledDirectory([900, 5000, 20_000], options, in: scope)
                fixture.origin.route("/new.png", .answer(body: SampleImage.png(byteCount: 700)))
                let rounds = isLongForm ? 50 : 2
                for round in 0..<rounds {
                    try await runSuccessfully("mount", ["-o", "remount,ro", mount.path])
                    #expect(try await fixture.stats()["isDirectoryWritable"] == false)
                    let new = fixture.origin.url("/new.png?\(round)")
                    let items = try await fixture.fetch(fixture.urls + [new])
                    #expect(items.dropLast().allSatisfy { $0.state == .cached })
                    let failure = items.last?.failure
                    #expect(failure?.kind == "storage")
                    #expect(failure?.message.contains(fixture.directory) == true)
                    #expect(failure?.message.contains("ead-only") == true)
                    #expect(try await fixture.verify().checked == 3 + round)
                    if round == 0 {
                        try await waitUntil("the log to report it") {
                            fixture.daemon.log.contains("the file system is read-only")
                        }
                    }
                    try await runSuccessfully("mount", ["-o", "remount,rw", mount.path])
                    #expect(try await fixture.stats()["isDirectoryWritable"] == true)
                    #expect(try await fixture.fetch([new]).first?.state == .cached)
                }
                figures.append("\(rounds) rounds")
            }
        }
    }

    // MARK: Common steps

    private static func fixture(in scope: TestScope) async throws -> FilledDirectory {
        var options = DaemonFixture.Options()
        options.directory = try TemporaryDirectory(in: scope).file("cache")
        // With all restrictions it ends when its directory is removed or replaced.
        options.environment["CACHED_RESTRICT"] = "partly"
        return try await FilledDirectory([900, 5000, 20_000], options, in: scope)
    }

    /// The daemon misses its directory and names it in every failure.
    private static func expectLost(_ fixture: FilledDirectory) async throws {
        #expect(try await fixture.status(fixture.urls).allSatisfy { $0.state == .missing })
        let requests = fixture.origin.requests().count
        for item in try await fixture.fetch(fixture.urls) {
            #expect(item.state == .missing && item.failure?.kind == "storage")
            #expect(item.failure?.message.contains(fixture.directory) == true)
        }
        #expect(fixture.origin.requests().count == requests)
        #expect(try await fixture.stats()["isDirectoryInPlace"] == false)
        #expect(try await fixture.verify().failure?.kind == "storage")
    }

    /// The daemon has a directory again, with all images in it after this many downloads.
    private static func expectWell(_ fixture: FilledDirectory, downloads: Int) async throws {
        try await waitUntil("the daemon to have its directory") {
            try await fixture.stats()["isDirectoryInPlace"] == true
        }
        let requests = fixture.origin.requests().count
        let items = try await fixture.fetch(fixture.urls)
        for item in items {
            #expect(item.state == .cached, "\(String(describing: item.failure))")
        }
        for number in fixture.urls.indices { try fixture.expectWhole(number) }
        #expect(fixture.origin.requests().count == requests + downloads)
        try await fixture.waitForScan()
        #expect(try await fixture.stats()["entries"] == .int(fixture.urls.count))
    }

    private static func expectLocked(_ fixture: FilledDirectory) async throws {
        let output = try await run(
            BuiltProducts.program("cached"),
            ["--directory", fixture.directory, "--socket", fixture.elsewhere.file("s")],
            environment: minimalEnvironment())
        #expect(output.status == .exited(75))
        #expect(output.errorText.contains("process \(fixture.daemon.process.pid);"))
    }
}
