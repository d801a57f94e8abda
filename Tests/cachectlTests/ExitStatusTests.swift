import CacheWire
import Foundation
import StubDaemon
import Testing

@Suite(.timeLimit(.minutes(5))) struct ExitStatusTests {
    @Test(arguments: [
        [], ["nonsense"], ["status"], ["status", "--nonsense", "u"],
        ["fetch", "--sha256", "x", "u"], ["list", "--order", "colour"], ["list", "--limit", "-1"],
        ["info"], ["pin"], ["unpin"], ["evict"], ["evict", "--to", "1.5QB"],
        ["evict", "--to", "-1"], ["evict", "--to", "1MB", "u"], ["pressure"],
        ["pressure", "mild"],
    ])
    func wrongUsageExitsWith64(arguments: [String]) throws {
        // Without arguments the program prints its help.
        #expect(try Program.run(arguments).status == (arguments.isEmpty ? 0 : 64))
    }

    @Test(arguments: [
        ["status", "u"], ["fetch", "u"], ["list"], ["info", "u"], ["stats"], ["pin", "u"],
        ["unpin", "u"], ["evict", "--to", "0"], ["pressure", "warning"],
    ])
    func missingDaemonExitsWith69(arguments: [String]) throws {
        let environment = ["CACHED_SOCKET": "/nowhere/cached.sock", "CACHED_START": "no"]
        let outcome = try Program.run(arguments, environment: environment)
        #expect(outcome.status == 69)
        #expect(
            outcome.errorOutput == "cachectl: no daemon answers at /nowhere/cached.sock: "
                + "start it with `cached`, or name another socket with --socket\n")
    }

    @Test(arguments: [
        ["stats"], ["pin", "u"], ["unpin", "u"], ["evict", "--to", "0"], ["pressure", "critical"],
    ])
    func refusalByTheDaemonExitsWith77(arguments: [String]) throws {
        let stub = try StubDaemon(replies: [
            #"{"error":"org.varlink.service.PermissionDenied"}"#
        ])
        let outcome = try Program.run(arguments + ["--socket", stub.path])
        #expect(outcome.status == 77 && outcome.output == "")
    }

    @Test(.enabled(if: geteuid() != 0, "root may connect to every socket"))
    func unreadableSocketExitsWith77() throws {
        let stub = try StubDaemon(replies: [])
        chmod(stub.path, 0)
        #expect(try Program.run(["stats", "--socket", stub.path]).status == 77)
    }

    @Test func tooLongSocketPathExitsWith64() throws {
        let path = "/" + String(repeating: "p", count: 107)
        #expect(try Program.run(["stats", "--socket", path]).status == 64)
    }

    @Test func versionAndHelpAreSuccess() throws {
        let version = try Program.run(["--version"])
        #expect(version.output == Version.current + "\n" && version.status == 0)
        let all = try Program.run(["--help"]).output
        for command in [
            "status", "fetch", "name", "list", "info", "remove", "pin", "unpin", "evict",
            "pressure", "stats", "cat", "open", "link", "doctor",
        ] {
            // Aliases follow after a comma.
            #expect(all.contains("  \(command) ") || all.contains("  \(command), "))
            let help = try Program.run([command, "--help"])
            #expect(help.status == 0 && help.output.contains("Example: cachectl \(command)"))
        }
    }

    @Test func brokenPipeIsSuccess() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        let program = Program.url.path
        process.arguments = [
            "-c",
            """
            set -o pipefail
            seq -f 'https://example.com/%g' 100000 | "$0" name - | head -n 1 >/dev/null
            exit "${PIPESTATUS[1]}"
            """,
            program,
        ]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }
}
