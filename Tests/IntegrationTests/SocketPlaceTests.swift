import CacheWire
import Foundation
import TestSupport
import Testing

/// The default socket and its directory.
@Suite("Places of the socket", .timeLimit(.minutes(5)))
struct SocketPlaceTests {
    /// A daemon with the default socket of a user whose runtime directory is `runtime`.
    private func start(_ runtime: String, in scope: TestScope) throws -> ChildProcess {
        let home = try TemporaryDirectory(in: scope)
        return try ChildProcess(
            BuiltProducts.program("cached"), ["--directory", home.file("cache")],
            environment: minimalEnvironment([
                "HOME": home.path, "XDG_RUNTIME_DIR": runtime, "MEMORY_PRESSURE_WATCH": "/dev/null",
            ]), in: scope)
    }

    @Test func theSocketHasADirectoryOfItsOwn() async throws {
        try await withTestScope { scope in
            let runtime = try TemporaryDirectory(in: scope)
            let path = runtime.file("cached/cached.sock")
            for _ in 1...2 {
                let daemon = try start(runtime.path, in: scope)
                try await daemon.waitForSocket(path)
                var status = stat()
                #expect(stat(runtime.file("cached"), &status) == 0)
                #expect(status.st_mode & 0o777 == 0o700)
                let output = try await run(
                    BuiltProducts.program("cachectl"), ["stats"],
                    environment: minimalEnvironment(["XDG_RUNTIME_DIR": runtime.path]))
                #expect(output.status == .success)
                daemon.signal(SIGTERM)
                #expect(try await daemon.waitForExit() == .success)
                #expect(access(path, F_OK) != 0)
                #expect(try runtime.names() == ["cached"])
            }
        }
    }

    @Test(arguments: [("600", 0o700, false), ("666", 0o700, true), ("660", 0o750, false)])
    func anOpenSocketOverAClosedDirectoryIsALine(
        socketMode: String, directoryMode: mode_t, isLogged: Bool
    ) async throws {
        try await withTestScope { scope in
            let open = try TemporaryDirectory(in: scope)
            chmod(open.path, 0o755)
            var options = DaemonFixture.Options()
            options.arguments = ["--socket-mode", socketMode]
            options.directory = open.file("cache")
            mkdir(open.file("cache"), directoryMode)
            chmod(open.file("cache"), directoryMode)
            let daemon = try await DaemonFixture.start(options, in: scope)
            _ = try await daemon.ask(call("Where"))
            try await daemon.stop()
            let lines = daemon.log.split(separator: "\n").filter { $0.contains("socket is open") }
            #expect(lines.count == (isLogged ? 1 : 0))
            guard let line = lines.first else { return }
            #expect(line.contains("700") && line.contains("chmod") && line.contains("/cache"))
        }
    }
}
