import CacheWire
import Glibc
import TestSupport
import Testing

/// Evicted images that programs have open fill the disk until they are closed.
@Suite(
    "Open files", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"),
    .enabled(if: LoopFileSystem.obstacle == nil, "\(LoopFileSystem.obstacle ?? "")"))
struct OpenFilesTests {
    private static let size = 64 << 20
    private static let floor = 10 << 20

    /// A small file system on which every user can open files.
    private func disk(_ type: String, in scope: TestScope) async throws -> String {
        guard type == "ext4" else {
            let path = try await SmallFileSystem(bytes: Self.size, in: scope).path
            chmod(path, 0o755)
            return path
        }
        let path = try await LoopFileSystem(bytes: Self.size, in: scope).path
        chmod("\(path)/..", 0o755)
        return path
    }

    /// Fetches images one after the other, and keeps each open: the file itself, or what `Open` hands over. Prints how
    /// many it has open, the least free bytes that it saw, and the last reply. Between two replies all bytes are on the
    /// disk; while ext4 writes them, it counts them twice.
    private static let hold = """
        import os
        held = []; least = sys.maxsize
        for number, url in enumerate(sys.argv[3:]):
            s = connect()
            s.sendall(message("Fetch", urls=[url]))
            item = json.loads(reply(s)[:-1])["parameters"]["items"][0]
            facts = os.statvfs(sys.argv[2]); least = min(least, facts.f_bavail * facts.f_frsize)
            if "failure" in item: break
            if number % 2:
                s.sendall(message("Open", url=url))
                held += socket.recv_fds(s, 1 << 20, 1)[1]
            else:
                held.append(os.open(item["path"], os.O_RDONLY))
        say("%d %d %s" % (len(held), least, json.dumps(item))); time.sleep(600)
        """

    @Test(arguments: ["tmpfs", "ext4"])
    func oneUsersOpenFilesStopDownloadsAtTheFloorUntilTheyAreClosed(type: String) async throws {
        try await withTestScope { scope in
            let disk = try await disk(type, in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let urls = (0..<100).map { number in
                let image = SampleImage.png(byteCount: 1_000_000, seed: number)
                origin.route("/\(number).png", .answer(body: image))
                return origin.url("/\(number).png")
            }
            origin.route("/small.png", .answer(body: SampleImage.png(byteCount: 3000)))
            let home = try TemporaryDirectory(in: scope)
            chmod(home.path, 0o755)
            var options = DaemonFixture.Options()
            options.directory = "\(disk)/cache"
            options.socket = home.file("s")
            options.arguments = [
                "--socket-mode", "666", "--max-bytes", "8MiB", "--min-free", "10MiB",
            ]
            let daemon = try await DaemonFixture.start(options, in: scope)
            let greedy = try TestUser.greedy.start(
                Self.hold, daemon.socket, [disk] + urls, in: scope)
            let line = try await greedy.waitForLine(
                containing: "failure", on: .standardOutput, within: .seconds(120))
            // Far more than --max-bytes, and the floor of free space is kept.
            let figures = line.split(separator: " ").prefix(2).compactMap { Int($0) }
            try #require(figures.count == 2)
            #expect((30...60).contains(figures[0]), "\(line)")
            #expect(figures[1] >= Self.floor, "\(line)")
            #expect(line.contains(#""kind": "noRoom""#), "\(line)")
            #expect(line.contains("(--min-free); free some space, or end programs"), "\(line)")
            // For an image of another user, entries are evicted; otherwise it fails with that reason.
            let small = try await daemon.fetch(origin.url("/small.png"))
            #expect(small.state == .cached || small.failure?.kind == "noRoom", "\(small)")
            #expect(
                (Self.floor..<Self.floor + 1_100_000).contains(
                    try SmallFileSystem.space(at: disk).free))
            // Once they are closed, downloads go on.
            try await greedy.kill()
            #expect(try await daemon.fetch(urls[99]).state == .cached)
            #expect(try SmallFileSystem.space(at: disk).free > 40 << 20)
            try await daemon.expectLedgerMatchesDisk()
        }
    }
}
