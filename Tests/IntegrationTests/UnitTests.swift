import CacheWire
import Foundation
import TestSupport
import Testing

/// The units of systemd: valid, restricted, and with everything that the daemon needs.
@Suite("Units", .serialized, .timeLimit(.minutes(5)))
struct UnitTests {
    /// Settings of newer versions of systemd, which older ones report and ignore.
    private static let newer = ["notify-reload", "MemoryPressureWatch"]

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
