import Glibc
import TestSupport
import Testing

@Suite("Child processes", .timeLimit(.minutes(5)))
struct ChildProcessTests {
    @Test func runsToTheEndWithInputAndBothStreams() async throws {
        let output = try await run(
            "sh", ["-c", "cat; echo problem >&2; exit 3"], input: Array("text".utf8))
        #expect(output.status == .exited(3))
        #expect(output.text == "text")
        #expect(output.errorText == "problem\n")
    }

    @Test func givesTheChildNothingButTheNamedEnvironment() async throws {
        let output = try await run("env", environment: ["ONLY": "this"])
        #expect(output.text == "ONLY=this\n")
    }

    @Test func inheritsNoDescriptors() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            _ = origin
            // Descriptor 3 is ls's own, for the directory it lists.
            let output = try await run("ls", ["/proc/self/fd"])
            #expect(output.lines == ["0", "1", "2", "3"])
        }
    }

    @Test func killsAProgramThatExceedsItsTimeLimit() async throws {
        await #expect(throws: TestFailure.self) {
            try await run("sleep", ["1000"], within: .milliseconds(20))
        }
    }

    @Test func namesTheMissingProgram() async throws {
        let error = await #expect(throws: TestFailure.self) { try await run("no-such-program") }
        #expect(error?.description.contains("no-such-program") == true)
    }

    @Test func waitsForALine() async throws {
        try await withTestScope { scope in
            let child = try ChildProcess("sh", ["-c", "echo ready now >&2; cat <&1"], in: scope)
            #expect(try await child.waitForLine(containing: "ready") == "ready now")
        }
    }

    @Test func reportsTheOutputOfAProgramThatEndsBeforeTheLine() async throws {
        try await withTestScope { scope in
            let child = try ChildProcess("sh", ["-c", "echo broken >&2; exit 9"], in: scope)
            let error = await #expect(throws: TestFailure.self) {
                try await child.waitForLine(containing: "ready")
            }
            #expect(error?.description.contains("broken") == true)
        }
    }

    @Test func aSignalEndsTheChildAndIsReported() async throws {
        try await withTestScope { scope in
            let child = try ChildProcess("sleep", ["1000"], in: scope)
            child.signal(SIGTERM)
            #expect(try await child.waitForExit() == .signalled(SIGTERM))
        }
    }

    @Test func leavesNeitherZombiesNorGrandchildren() async throws {
        let pids = try await withTestScope { scope in
            let child = try ChildProcess(
                "sh", ["-c", "sleep 1000 & echo $! started; wait"], in: scope)
            let line = try await child.waitForLine(
                containing: "started", on: .standardOutput)
            let grandchild = try #require(Int32(line.split(separator: " ")[0]))
            return [child.pid, grandchild]
        }
        #expect(!isRunning(pids[0]))
        // It was killed with the child, and dies when its processor gets to it. The kernel passes it on to
        // init, which reaps it at some later time; being dead is enough.
        try await waitUntil("the grandchild to be dead") {
            !isRunning(pids[1]) || isZombie(pids[1])
        }
    }

    @Test func connectsStandardErrorToATerminalOfTheGivenWidth() async throws {
        let output = try await run(
            "sh", ["-c", "test -t 2 && stty size <&2"], standardError: .terminal(columns: 72))
        #expect(output.text == "24 72\n")
    }

    @Test func cleansUpInReverseOrderAfterAFailure() async throws {
        struct Stop: Error {}
        try await withTestScope { outer in
            let directory = try TemporaryDirectory(in: outer)
            await #expect(throws: Stop.self) {
                try await withTestScope { scope in
                    scope.atEnd { try directory.write("first", to: "order") }
                    scope.atEnd { try directory.write("second", to: "order") }
                    throw Stop()
                }
            }
            #expect(try contents(of: directory.file("order")) == Array("first".utf8))
        }
    }

    @Test func removesDirectoriesEvenUnreadableOnes() async throws {
        let path = try await withTestScope { scope in
            let directory = try TemporaryDirectory(in: scope)
            let inner = try directory.directory("a/b")
            try directory.write("x", to: "a/b/c")
            chmod(inner, 0)
            return directory.path
        }
        #expect(access(path, F_OK) != 0)
    }

    private func isRunning(_ pid: Int32) -> Bool {
        kill(pid, 0) == 0
    }

    private func isZombie(_ pid: Int32) -> Bool {
        let status = try? contents(of: "/proc/\(pid)/stat")
        return status.map { String(decoding: $0, as: UTF8.self).contains(") Z ") } ?? true
    }
}
