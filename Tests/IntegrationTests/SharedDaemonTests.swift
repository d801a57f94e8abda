import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Several users of one daemon: all who may connect can ask and fetch, and only some change the cache.
@Suite(
    "Shared daemon", .timeLimit(.minutes(5)),
    .enabled(if: geteuid() == 0, "only root can become other users"))
struct SharedDaemonTests {
    /// An ordinary user, and a group that this user can be in.
    private static let user: uid_t = 65534
    private static let group: gid_t = 54321

    /// The words that start a program as that user.
    private static func asUser(in groups: [gid_t]) -> [String] {
        let list = groups.map(String.init).joined(separator: ",")
        return ["--reuid", "\(user)", "--regid", "\(user)"]
            + (groups.isEmpty ? ["--clear-groups"] : ["--groups", list]) + ["--"]
    }

    /// A shared daemon, and the results of `cachectl` for another user.
    private struct Shared {
        let daemon: DaemonFixture
        let program: String

        init(_ arguments: [String], in scope: TestScope) async throws {
            let home = try TemporaryDirectory(in: scope)
            chmod(home.path, 0o755)
            // Copied, because the other user may not be able to reach the built program.
            program = home.file("cachectl")
            try await runSuccessfully("cp", [try BuiltProducts.program("cachectl"), program])
            var options = DaemonFixture.Options()
            options.arguments = ["--socket-mode", "666"] + arguments
            options.directory = home.file("cache")
            options.socket = home.file("s")
            daemon = try await DaemonFixture.start(options, in: scope)
        }

        func cachectl(
            _ arguments: [String], in groups: [gid_t] = []
        ) async throws -> ProcessOutput {
            try await run(
                "setpriv",
                SharedDaemonTests.asUser(in: groups) + [program, arguments[0], "--socket"]
                    + [daemon.socket] + arguments.dropFirst())
        }
    }

    @Test func anotherUserCanAskAndFetchButNotChangeTheCache() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 9000)))
            let url = origin.url("/a.png")
            let shared = try await Shared([], in: scope)
            let fetched = try await shared.cachectl(["fetch", url])
            #expect(fetched.status == .success)
            let path = try #require(fetched.lines.first)
            // The daemon made the directory so that its users can open the images.
            let read = try await run("setpriv", Self.asUser(in: []) + ["cat", path])
            #expect(read.standardOutput == SampleImage.png(byteCount: 9000))
            for command in [["status", url], ["list"], ["stats"], ["info", url]] {
                let output = try await shared.cachectl(command)
                #expect(output.status == .success, "\(command) \(output.errorText)")
            }
            for command in [
                ["remove", url], ["pin", url], ["evict", "--to", "0"], ["pressure", "warning"],
                ["verify"], ["verify", "--repair"], ["fetch", "--pin", url],
                ["fetch", url, "--or", url + "?b"],
            ] {
                let output = try await shared.cachectl(command)
                #expect(output.status == .exited(77), "\(command)")
                #expect(output.errorText.contains("only the owner of the cache, root"))
            }
            #expect(try await shared.daemon.status(url).state == .cached)
            let refusal = try #require(
                shared.daemon.log.split(separator: "\n").first {
                    $0.contains("call refused")
                })
            #expect(refusal.contains("io.cached.Cache.Remove"))
            #expect(refusal.contains("user=\(Self.user)"))
            #expect(try await shared.daemon.cachectl("remove", url).status == .success)
        }
    }

    /// The directory was there before, for its owner alone. The daemon hands the files over.
    @Test func imagesOfAClosedDirectoryCanBeWrittenToo() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 300_000)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let shared = try await Shared([], in: scope)
            chmod(shared.daemon.directory, 0o700)
            for command in ["cat", "show"] {
                let output = try await shared.cachectl([command, url])
                #expect(output.status == .success, "\(output.errorText)")
                #expect(output.standardOutput == image, "\(command)")
            }
            // The same user cannot open the path.
            let path = try #require(try await shared.daemon.status(url).path)
            let read = try await run("setpriv", Self.asUser(in: []) + ["cat", path])
            #expect(read.status != .success)
        }
    }

    @Test(arguments: ["54321", "nobody"])
    func aManagerMayChangeTheCacheAndIsNamedInTheLog(manager: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(byteCount: 9000)))
            let url = origin.url("/a.png")
            let shared = try await Shared(["--managers", manager], in: scope)
            #expect(try await shared.daemon.fetch(url).state == .cached)
            for command in ["pin", "remove"] {
                let output = try await shared.cachectl([command, url], in: [Self.group])
                #expect(output.status == .success, "\(output.errorText)")
            }
            #expect(try await shared.daemon.status(url).state == .missing)
            let lines = shared.daemon.log.split(separator: "\n").filter {
                $0.contains("call changes the cache")
            }
            #expect(lines.count == 2)
            #expect(lines.allSatisfy { $0.contains("user=\(Self.user)") })
            #expect(lines.first?.contains(/process=[1-9]/) == true)
        }
    }

    /// Neither a connection that stays, nor many calls, fill the log.
    @Test func aConnectionThatIsRefusedAgainAndAgainIsOneLine() async throws {
        try await withTestScope { scope in
            let shared = try await Shared([], in: scope)
            let script = """
                import socket, sys
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
                call = b'{"method":"io.cached.Cache.Evict","parameters":{"toBytes":0}}\\0'
                s.sendall(call * 50); seen = b""
                while seen.count(b"PermissionDenied") < 50: seen += s.recv(65536)
                """
            let output = try await run(
                "setpriv", Self.asUser(in: []) + ["python3", "-c", script, shared.daemon.socket])
            #expect(output.status == .success)
            let refusals = shared.daemon.log.split(separator: "\n").filter {
                $0.contains("call refused")
            }
            #expect(refusals.count == 1)
        }
    }

    @Test func theGroupOfTheSocketIsLetIn() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(
                ["--socket-group", "\(Self.group)"], in: scope)
            var status = stat()
            #expect(stat(daemon.socket, &status) == 0)
            #expect(status.st_gid == Self.group && status.st_mode & 0o777 == 0o660)
            // The directory is in /tmp/cached.XXXXXX, which only its owner can search.
            let line = try await daemon.process.waitForLine(
                containing: "the socket is open to its group")
            #expect(line.contains("chgrp \(Self.group)"))
        }
    }

    @Test(arguments: ["--managers", "--socket-group"])
    func anUnknownNameIsAClearError(option: String) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let output = try await run(
                BuiltProducts.program("cached"),
                [
                    "--directory", home.file("c"), "--socket", home.file("s"), option,
                    "no-such-name",
                ])
            #expect(output.status == .exited(78))
            #expect(output.errorText.contains(option) && output.errorText.contains("no-such-name"))
            #expect(try home.names().isEmpty)
        }
    }
}
