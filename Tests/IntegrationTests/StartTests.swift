import Glibc
import TestSupport
import Testing

/// A daemon that cannot start reports why, in one line and by its exit code.
@Suite("Start", .serialized, .timeLimit(.minutes(5)))
struct StartTests {
    /// Runs a daemon that must fail to start.
    private func start(
        directory: String, socket: String, _ more: [String] = [],
        environment: [String: String] = [:]
    ) async throws -> ProcessOutput {
        try await run(
            BuiltProducts.program("cached"), ["--directory", directory, "--socket", socket] + more,
            environment: minimalEnvironment(environment))
    }

    @Test func aSocketInUseIsLeftAloneAndItsDaemonIsNamed() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let other = try TemporaryDirectory(in: scope)
            let output = try await start(directory: other.file("c"), socket: daemon.socket)
            #expect(output.status == .exited(75))
            #expect(output.errorText.contains("process \(daemon.process.pid);"))
            #expect(output.errorText.contains(daemon.socket))
            #expect(try await daemon.ask(call("Stats")).error == nil)
        }
    }

    @Test func aDirectoryInUseIsLeftAloneAndItsDaemonIsNamed() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let other = try TemporaryDirectory(in: scope)
            let output = try await start(directory: daemon.directory, socket: other.file("s"))
            #expect(output.status == .exited(75))
            #expect(output.errorText.contains("process \(daemon.process.pid);"))
            #expect(output.errorText.contains(daemon.directory))
            #expect(try other.names().isEmpty)
            #expect(try await daemon.ask(call("Stats")).error == nil)
        }
    }

    @Test func aStaleSocketIsTakenOver() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.kill()
            #expect(size(at: daemon.socket) != nil)
            let home = try TemporaryDirectory(in: scope)
            let process = try ChildProcess(
                BuiltProducts.program("cached"),
                ["--directory", home.file("c"), "--socket", daemon.socket], in: scope)
            try await process.waitForSocket(daemon.socket)
            let connection = try VarlinkConnection(daemon.socket, in: scope)
            #expect(try await connection.ask(call("Stats")).error == nil)
            process.signal(SIGTERM)
            #expect(try await process.waitForExit() == .success)
            #expect(size(at: daemon.socket) == nil)
        }
    }

    @Test func aFileThatIsNotASocketIsNotReplaced() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("precious", to: "file")
            for path in [file, try home.directory("directory")] {
                let output = try await start(directory: home.file("c"), socket: path)
                #expect(output.status == .exited(73), "\(path)")
                #expect(output.errorText.contains(path))
            }
            #expect(try contents(of: file) == Array("precious".utf8))
        }
    }

    @Test func pathsWhereNothingCanBeCreatedExitWith73() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("precious", to: "file")
            let long = home.file(String(repeating: "s", count: 108 - home.path.utf8.count))
            let socket = home.file("s")
            for (directory, socket, name) in [
                (file, socket, file),
                ("\(file)/below", socket, file),
                ("/proc/cached", socket, "/proc/cached"),
                (home.file("c"), long, long),
                (home.file("c"), home.file("missing/s"), "missing/s"),
            ] {
                let output = try await start(directory: directory, socket: socket)
                #expect(output.status == .exited(73), "\(directory) \(socket): \(output.errorText)")
                #expect(output.errorText.contains(name))
                #expect(output.errorText.split(separator: "\n").count == 1)
            }
            #expect(try contents(of: file) == Array("precious".utf8))
        }
    }

    /// For its own directory the daemon can lack search permission; for another user's, write permission.
    @Test(
        .enabled(if: geteuid() == 0, "only root can become a user without permission to write"),
        arguments: [true, false])
    func aDirectoryWithoutPermissionExitsWith77(isOwn: Bool) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            chmod(home.path, 0o755)
            let directory = try home.directory("c")
            if isOwn {
                chown(directory, 65534, 65534)
                chmod(directory, 0o600)
            }
            // Copied, because the other user may not be able to reach the built program.
            let program = home.file("cached")
            try await runSuccessfully("cp", [try BuiltProducts.program("cached"), program])
            let output = try await run(
                "setpriv",
                [
                    "--reuid", "65534", "--regid", "65534", "--clear-groups", "--",
                    program, "--directory", directory, "--socket", home.file("s"),
                ])
            #expect(output.status == .exited(77))
            #expect(output.errorText.contains(directory))
            #expect(output.errorText.contains(isOwn ? "look into" : "write to"))
            #expect(!output.errorText.contains(".lock"), "the lock is not the problem")
        }
    }

    @Test func tooFewDescriptorsExitWith73AndNameTheLimit() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let output = try await run(
                "sh",
                [
                    "-c", "ulimit -n 20; exec \"$0\" \"$@\"", BuiltProducts.program("cached"),
                    "--directory", home.file("c"), "--socket", home.file("s"),
                ])
            #expect(output.status == .exited(73))
            #expect(output.errorText.contains("the hard limit of open files is 20"))
            #expect(output.errorText.contains("LimitNOFILE"))
        }
    }

    @Test func wrongUsageExitsWith64() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            for wrong in [["--no-such-option"], ["surplus"], ["--socket"]] {
                let output = try await start(
                    directory: home.file("c"), socket: home.file("s"), wrong)
                #expect(output.status == .exited(64), "\(wrong)")
                #expect(!output.errorText.isEmpty)
            }
            #expect(try home.names().isEmpty)
        }
    }

    @Test func anInvalidSettingExitsWith78AndNamesTheNearestOne() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let file = try home.write("CACHED_ALOW_NETWORK=10.0.0.0/8\n", to: "cached.conf")
            for (arguments, environment, names) in [
                ([], ["CACHED_ACEPT": "any"], ["CACHED_ACEPT", "CACHED_ACCEPT"]),
                (["--config", file], [:], ["CACHED_ALOW_NETWORK", "CACHED_ALLOW_NETWORK", file]),
                (["--config", home.file("none")], [:], [home.file("none")]),
                (["--allow-network", "somewhere"], [:], ["somewhere"]),
                (["--accept", "gif"], [:], ["gif"]),
                (["--max-image-bytes", "big"], [:], ["big"]),
                (["--log-level", "loud"], [:], ["loud"]),
                ([], ["CACHED_SOCKET_MODE": "rw"], ["rw"]),
            ] as [([String], [String: String], [String])] {
                let output = try await start(
                    directory: home.file("c"), socket: home.file("s"), arguments,
                    environment: environment)
                #expect(output.status == .exited(78), "\(arguments) \(environment)")
                for name in names { #expect(output.errorText.contains(name)) }
            }
            #expect(try home.names() == ["cached.conf"])
        }
    }

    /// The daemon would otherwise evict everything and refuse every download.
    @Test func anImpossibleFreeSpaceMinimumIsAnInvalidSetting() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let output = try await start(
                directory: home.file("c"), socket: home.file("s"), ["--min-free", "1000000TiB"],
                environment: [:])
            #expect(output.status == .exited(78))
            #expect(output.errorText.contains("--min-free"))
            #expect(output.errorText.contains(home.file("c")))
        }
    }

    @Test func onlyTheOwnerCanConnectByDefault() async throws {
        try await withTestScope { scope in
            for (arguments, mode, directoryMode) in [
                ([], 0o600, 0o700), (["--socket-mode", "660"], 0o660, 0o750),
            ] as [([String], Int, Int)] {
                let daemon = try await DaemonFixture.start(arguments, in: scope)
                var status = stat()
                #expect(lstat(daemon.socket, &status) == 0)
                #expect(Int(status.st_mode & 0o777) == mode)
                #expect(lstat(daemon.directory, &status) == 0)
                #expect(Int(status.st_mode & 0o777) == directoryMode)
            }
        }
    }

    @Test func theDirectoryIsMarkedAsACache() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let tag = String(
                decoding: try contents(of: "\(daemon.directory)/CACHEDIR.TAG"), as: UTF8.self)
            #expect(tag.hasPrefix("Signature: 8a477f597d28d172789f06886806bc55\n"))
        }
    }
}
