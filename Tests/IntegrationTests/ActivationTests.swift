import Foundation
import Glibc
import TestSupport
import Testing

/// Socket activation: the first call starts the daemon, whose socket is the service manager's.
@Suite("Socket activation", .serialized, .timeLimit(.minutes(5)))
struct ActivationTests {
    /// A daemon that starts with the first connection to its socket.
    private func start(
        _ launcher: [String], at socket: String, _ arguments: [String] = [],
        in scope: TestScope
    ) async throws -> DaemonFixture {
        var options = DaemonFixture.Options()
        options.launcher = launcher
        options.arguments = arguments
        options.socket = socket
        options.waitsUntilReady = false
        let daemon = try await DaemonFixture.start(options, in: scope)
        try await daemon.process.waitForLine(containing: "Listening on")
        return daemon
    }

    @Test func theFirstCallStartsItAndTheSocketIsLeftAsItIs() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let socket = home.file("s")
            // It becomes the daemon itself, so it must start it with the arguments of the fixture.
            let launcher = ["/usr/bin/systemd-socket-activate", "--listen", socket]
            let daemon = try await start(
                launcher + ["-E", "MEMORY_PRESSURE_WATCH=/dev/null"], at: socket, in: scope)
            chmod(socket, 0o612)
            #expect(!daemon.log.contains(" info: "), "nothing starts before the first call")
            let reply = try await daemon.ask(call("Where"))
            #expect(reply.parameters?.socket == socket)
            try await daemon.process.waitForLine(containing: "listening")
            var status = stat()
            #expect(stat(socket, &status) == 0 && status.st_mode & 0o777 == 0o612)
            try await daemon.stop()
            #expect(stat(socket, &status) == 0, "the file belongs to the service manager")
        }
    }

    /// `--idle-exit`: the daemon ends between calls again and again, and no call is lost or refused.
    @Test func callsAtTheTimeOfTheIdleExitAreAllAnswered() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let socket = home.file("s")
            let daemon = try await start(
                [ServiceFiles.program("activate"), "listen", socket], at: socket,
                ["--idle-exit", "1ms"], in: scope)
            try await waitUntil("ten daemons to have ended") {
                let connection = try daemon.connect()
                #expect(try await connection.ask(call("Stats")).error == nil)
                connection.shutdown()
                // The calls fall on all moments of an end.
                try await Task.sleep(for: .microseconds(Int.random(in: 0...3000)))
                return daemon.process.text(.standardOutput).matches(of: /ended 0/).count >= 10
            }
            let output = daemon.process.text(.standardOutput).split(separator: "\n")
            #expect(output.allSatisfy { $0.hasPrefix("started") || $0 == "ended 0" })
            #expect(daemon.log.contains("nothing to do, the daemon ends"))
            daemon.process.signal(SIGTERM)
            _ = try await daemon.process.waitForExit()
        }
    }

    /// Three daemons with the same limit: one that is idle measures the time for one with a client and one with a
    /// download.
    @Test func itDoesNotEndWhileAClientIsConnectedOrAnImageArrives() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(SampleImage.png(byteCount: 9000), after: 4000, gate))
            let url = origin.url("/a.png")
            let limit = ["--idle-exit", "400ms"]
            let connected = try await DaemonFixture.start(limit, in: scope)
            let client = try connected.connect()
            #expect(try await client.ask(call("Stats")).error == nil)
            let downloading = try await DaemonFixture.start(limit, in: scope)
            let fetch = call("Fetch", [url], parameters: #""wait":false"#)
            let caller = try downloading.connect()
            #expect(try await caller.ask(fetch).error == nil)
            try await gate.reached()
            caller.shutdown()
            for _ in 1...2 {
                let idle = try await DaemonFixture.start(limit, in: scope)
                #expect(try await idle.process.waitForExit() == .success)
                #expect(access(idle.socket, F_OK) != 0)
            }
            #expect(try await client.ask(call("Stats")).error == nil)
            #expect(downloading.process.exitStatus == nil)
            gate.open()
            #expect(try await downloading.process.waitForExit() == .success)
            #expect(size(at: try downloading.path(url)) == 9000)
            client.shutdown()
            #expect(try await connected.process.waitForExit() == .success)
        }
    }

    @Test(arguments: [
        ("tcp", "not a Unix socket"), ("datagram", "no stream socket"),
        ("deaf", "does not listen"), ("file", "no socket"), ("closed", "no socket"),
        ("two", "2 sockets"),
    ])
    func aWrongSocketIsAClearError(kind: String, problem: String) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let output = try await run(
                ServiceFiles.program("activate"),
                [
                    kind, home.file("s"), BuiltProducts.program("cached"), "--directory",
                    home.file("c"),
                ], environment: minimalEnvironment(["HOME": home.path]))
            #expect(output.status == .exited(78))
            let lines = output.errorText.split(separator: "\n")
            #expect(lines.count == 1)
            #expect(lines.first?.contains(problem) == true, "\(output.errorText)")
            #expect(lines.first?.contains("ListenStream=") == true)
            #expect(access(home.file("c"), F_OK) != 0)
        }
    }

    /// Variables that were meant for the parent, as after `sudo` or in a script.
    @Test func socketsOfAnotherProcessAreIgnored() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(
                environment: ["LISTEN_PID": "1", "LISTEN_FDS": "1"], in: scope)
            #expect(try await daemon.ask(call("Stats")).error == nil)
        }
    }

    @Test func aSecondActivationNamesTheDaemonThatHasTheDirectory() async throws {
        try await withTestScope { scope in
            let first = try await DaemonFixture.start(in: scope)
            let home = try TemporaryDirectory(in: scope)
            let second = try ChildProcess(
                "/usr/bin/systemd-socket-activate",
                [
                    "--listen", home.file("s"), BuiltProducts.program("cached"), "--directory",
                    first.directory,
                ], in: scope)
            try await second.waitForSocket(home.file("s"))
            #expect(try await second.waitForExit() == .exited(75))
            let log = second.text(.standardError)
            #expect(log.contains("process \(first.process.pid)") && log.contains(first.directory))
            #expect(try await first.ask(call("Stats")).error == nil)
        }
    }

    /// As after a boot with a full `/run`.
    @Test(.enabled(if: SmallFileSystem.obstacle == nil, "mounting is not permitted"))
    func aFullFileSystemOfTheSocketIsAClearError() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let full = try await SmallFileSystem(bytes: 4096, in: scope)
            // The root directory takes the only inode.
            try await runSuccessfully("mount", ["-o", "remount,nr_inodes=1", full.path])
            let output = try await run(
                BuiltProducts.program("cached"),
                ["--directory", home.file("c"), "--socket", "\(full.path)/s"])
            #expect(output.status == .exited(73))
            #expect(output.errorText.contains("No space left"))
            #expect(output.errorText.contains("free some space"))
        }
    }
}
