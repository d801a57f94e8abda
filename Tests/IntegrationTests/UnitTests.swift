import CacheWire
import Foundation
import TestSupport
import Testing

/// The units of systemd: valid, restricted, and with everything that the daemon needs.
@Suite("Units", .serialized, .timeLimit(.minutes(5)))
struct UnitTests {
    /// Settings of newer versions of systemd, which older ones report and ignore.
    private static let newer = ["MemoryPressureWatch", "RestartSteps", "RestartMaxDelaySec"]

    @Test(arguments: ["system", "user"])
    func theUnitsAreValid(kind: String) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            var files: [String] = []
            for name in ["cached.socket", "cached.service"] {
                let text = try String(
                    contentsOfFile: ServiceFiles.unit("\(kind)/\(name)"), encoding: .utf8)
                // Verifying a unit includes that its program exists.
                files.append(
                    try home.write(text.replacing("/usr/bin/cached", with: "/bin/true"), to: name))
            }
            let output = try await run(
                "systemd-analyze", ["verify", "--man=no", "--\(kind)"] + files,
                environment: minimalEnvironment([
                    "XDG_RUNTIME_DIR": home.path, "HOME": home.path,
                ]))
            #expect(output.status == .success)
            let complaints = output.errorText.split(separator: "\n").filter { line in
                line.contains(home.path) && !Self.newer.contains { line.contains($0) }
            }
            #expect(complaints == [])
        }
    }

    /// The commands of a reload, as systemd runs them: one after the other, until one fails.
    private func reload(_ kind: String, _ process: ChildProcess, _ home: String) async throws
        -> Int32?
    {
        let text = try String(
            contentsOfFile: ServiceFiles.unit("\(kind)/cached.service"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0.hasPrefix("ExecReload=") }
        #expect(lines.count == 2)
        // With notify-reload, systemd sends a signal too.
        #expect(text.split(separator: "\n").filter { $0.hasPrefix("Type=") } == ["Type=notify"])
        for line in lines {
            let command = line.dropFirst("ExecReload=".count)
                .replacing("/usr/bin/cached", with: try BuiltProducts.program("cached"))
                .replacing("$MAINPID", with: "\(process.pid)")
            let output = try await run(
                "sh", ["-c", "exec \(command)"],
                environment: minimalEnvironment(["XDG_CONFIG_HOME": home, "HOME": home]))
            guard output.status == .success else { return output.status.code }
        }
        return 0
    }

    @Test(arguments: ["system", "user"])
    func aReloadChecksTheConfigurationAndReadsItOnce(kind: String) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            _ = try home.directory("cached")
            var options = DaemonFixture.Options()
            options.arguments = ["--config", try home.write("", to: "cached/cached.conf")]
            let daemon = try await DaemonFixture.start(options, in: scope)
            try home.write("CACHED_MIN_FREE=lots\n", to: "cached/cached.conf")
            #expect(try await reload(kind, daemon.process, home.path) == 78)
            try home.write("CACHED_MIN_FREE=5MB\n", to: "cached/cached.conf")
            #expect(try await reload(kind, daemon.process, home.path) == 0)
            try await daemon.process.waitForLine(containing: "configuration read again")
            #expect(try await daemon.metric("bytesMinFree") == 5_000_000)
            try await daemon.stop()
            #expect(daemon.log.split(separator: "configuration read again").count == 2)
            #expect(!daemon.log.contains("configuration is invalid"))
        }
    }

    @Test func theSystemServiceIsHardlyExposed() async throws {
        let output = try await run(
            "systemd-analyze",
            [
                "security", "--offline=true", "--no-pager", "--threshold=12",
                ServiceFiles.unit("system/cached.service"),
            ])
        #expect(output.status == .success, "\(output.text.suffix(300))")
        #expect(output.text.contains("Overall exposure level"))
    }

    /// Every kind of call, under the system calls and address families that the unit allows. `make test-confined` runs
    /// more tests so.
    @Test(arguments: ["system", "user"])
    func everythingWorksUnderTheRestrictionsOfTheUnit(kind: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 90_000)
            let names = (0..<20).map { "/\($0).png" }
            for name in names { origin.route(name, .answer(body: image)) }
            let urls = names.map { origin.url($0) }
            var options = DaemonFixture.Options()
            options.launcher = [
                ServiceFiles.program("confine"), "--unit",
                ServiceFiles.unit("\(kind)/cached.service"),
            ]
            let daemon = try await DaemonFixture.start(options, in: scope)
            let status = String(
                decoding: try contents(of: "/proc/\(daemon.process.pid)/status"), as: UTF8.self)
            #expect(status.contains("Seccomp:\t2"), "it runs under a filter")
            let items = try await daemon.ask(call("Fetch", urls)).items
            #expect(items.count { $0.state == .cached } == urls.count)
            #expect(try contents(of: daemon.path(urls[0])) == image)
            for command in [
                ["status", urls[0]], ["list"], ["stats"], ["pin", urls[0]], ["verify", "--repair"],
                ["remove", urls[1]], ["pressure", "critical"], ["evict", "--to", "1MB"],
            ] {
                let output = try await run(
                    BuiltProducts.program("cachectl"),
                    [command[0], "--socket", daemon.socket] + command.dropFirst())
                #expect(output.status == .success, "\(command) \(output.errorText)")
            }
            #expect(try await daemon.status(urls[0]).state == .cached, "it is pinned")
            daemon.process.signal(SIGHUP)
            try await daemon.process.waitForLine(containing: "configuration read again")
            try await daemon.stop()
            let problems = daemon.log.split(separator: "\n").filter {
                $0.contains(" warning ") || $0.contains(" error ")
            }
            #expect(problems == [])
        }
    }
}
