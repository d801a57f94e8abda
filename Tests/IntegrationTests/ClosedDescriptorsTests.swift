import Foundation
import Glibc
import TestSupport
import Testing

/// A program can be started with closed standard streams. No other file then takes their place, neither a
/// socket nor an image.
@Suite("Closed descriptors", .timeLimit(.minutes(5)))
struct ClosedDescriptorsTests {
    /// A shell command that runs a program; redirections are appended.
    private static let closing = "exec \"$0\" \"$@\""

    @Test func theDaemonOpensDevNullForClosedStandardStreams() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let process = try ChildProcess(
                "sh",
                [
                    "-c", Self.closing + " <&- >&- 2>&-", BuiltProducts.program("cached"),
                    "--directory", home.file("c"), "--socket", home.file("s"),
                ], in: scope)
            try await process.waitForSocket(home.file("s"))
            for descriptor in 0...2 {
                let link = "/proc/\(process.pid)/fd/\(descriptor)"
                let target = try FileManager.default.destinationOfSymbolicLink(atPath: link)
                #expect(target == "/dev/null", "\(descriptor)")
            }
            let connection = try VarlinkConnection(home.file("s"), in: scope)
            #expect(try await connection.ask(call("Stats")).error == nil)
            process.signal(SIGTERM)
            #expect(try await process.waitForExit() == .success)
        }
    }

    @Test(arguments: [
        ["status", "http://127.0.0.1/a.png"], ["stats"], ["name", "http://a/b.png"],
    ])
    func aClosedStandardOutputFailsTheClient(arguments: [String]) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let output = try await run(
                "sh",
                ["-c", Self.closing + " >&-", BuiltProducts.program("cachectl")] + arguments,
                environment: minimalEnvironment(["CACHED_SOCKET": daemon.socket]))
            #expect(output.status == .exited(74))
            #expect(output.errorText.contains("cannot write standard output: Bad file descriptor"))
        }
    }

    @Test func aClosedStandardInputFailsTheClient() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let output = try await run(
                "sh",
                ["-c", Self.closing + " <&-", BuiltProducts.program("cachectl"), "status", "-"],
                environment: minimalEnvironment(["CACHED_SOCKET": daemon.socket]))
            #expect(output.status == .exited(74))
            #expect(output.errorText.contains("Bad file descriptor"))
        }
    }
}
