import Foundation
import Glibc
import TestSupport
import Testing

/// `cached --detach`: a daemon in the background, with one answer whether it started.
@Suite("Detach", .serialized, .timeLimit(.minutes(5)))
struct DetachTests {
    @Test func returnsWhenTheSocketAnswersAndLeavesNothingOfTheCaller() async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            let file = try daemons.home.write("secret", to: "file")
            let arguments = [
                "--detach", "--directory", daemons.directory, "--socket", daemons.socket,
            ]
            let output = try await run(
                "sh",
                ["-c", #"umask 0; exec "$0" "$@" 9< \#(file)"#, BuiltProducts.program("cached")]
                    + arguments, environment: daemons.environment())
            #expect(output.status == .success && output.errorText.isEmpty)
            let connection = try VarlinkConnection(daemons.socket, in: scope)
            #expect(try await connection.ask(call("Stats")).error == nil)

            let process = try #require(daemons.processes.first)
            let links = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")
            let targets = try links.map {
                (
                    $0,
                    try FileManager.default.destinationOfSymbolicLink(
                        atPath: "/proc/\(process)/fd/\($0)")
                )
            }
            for descriptor in ["0", "1", "2"] {
                #expect(targets.first { $0.0 == descriptor }?.1 == "/dev/null")
            }
            #expect(!targets.contains { $0.1 == file })
            #expect(
                try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/cwd")
                    == "/")
            #expect(getsid(process) == process)
            let status = String(
                decoding: try contents(of: "/proc/\(process)/status"), as: UTF8.self)
            #expect(status.contains("Umask:\t0022") && status.hasPrefix("Name:\tcached\n"))
            kill(process, SIGTERM)
            try await waitUntil("the daemon to end") { daemons.processes.isEmpty }
            #expect(size(at: daemons.socket) == nil)
        }
    }

    @Test func severalAtTheSameMomentStartOneDaemon() async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            try await withThrowingTaskGroup { group in
                for _ in 1...4 {
                    group.addTask {
                        let output = try await daemons.detach()
                        #expect(output.status == .success, "\(output.errorText)")
                    }
                }
                try await group.waitForAll()
            }
            // The others have lost the race for the directory, and end.
            try await waitUntil("one daemon to be left") { daemons.processes.count == 1 }
            let first = daemons.processes
            #expect(try await daemons.detach().status == .success)
            #expect(daemons.processes == first)
        }
    }

    @Test(arguments: [
        (["--max-bytes", "much"], 78, "much"), (["--no-such-option"], 64, "no-such-option"),
        (["--config", "/nonexistent.conf"], 78, "/nonexistent.conf"),
        (["--directory", "/proc/cache"], 73, "/proc/cache"),
    ])
    func theReasonAndTheStatusAreTheDaemonsOwn(
        options: [String], status: Int32, word: String
    ) async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            let output = try await daemons.detach(options)
            #expect(output.status == .exited(status))
            #expect(output.errorText.contains(word))
            #expect(daemons.processes.isEmpty)
        }
    }

    /// An application can have variables of its own, which the daemon inherits.
    @Test func aVariableThatIsNoSettingIsNamedAndIgnored() async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            let mine = ["CACHED_MAX_BITES": "5G", "CACHED_FOLDER_OF_MINE": "x"]
            let output = try await daemons.detach([], mine)
            #expect(output.status == .success)
            let lines = output.errorText.split(separator: "\n")
            #expect(lines.count == 2 && lines.allSatisfy { $0.hasSuffix(" It is ignored") })
            #expect(lines.last?.contains("did you mean CACHED_MAX_BYTES?") == true)
            let process = try #require(daemons.processes.first)
            let text = try contents(of: "/proc/\(process)/environ")
            let names = text.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
            #expect(names.contains { $0.hasPrefix("CACHED_ATTEMPTS=") })
            #expect(!names.contains { name in mine.keys.contains { name.hasPrefix($0) } })
            // In the foreground it is an error.
            let plain = try await run(
                BuiltProducts.program("cached"), ["--check-config"],
                environment: daemons.environment(mine))
            #expect(plain.status == .exited(78))
        }
    }

    @Test func endsByItselfWhenItIsIdle() async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            #expect(try await daemons.detach(["--idle-exit", "1s"]).status == .success)
            try await waitUntil("the daemon to end") { daemons.processes.isEmpty }
            #expect(size(at: daemons.socket) == nil)
        }
    }

    /// A relative path of the caller means the same to the daemon.
    @Test func aRelativeSocketIsInTheCallersDirectory() async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            let output = try await run(
                "sh",
                [
                    "-c",
                    #"cd "$1" && exec "$0" --detach --socket socket --directory "$1/cache" --config "$1/none""#,
                    BuiltProducts.program("cached"), daemons.home.path,
                ], environment: daemons.environment())
            #expect(output.status == .exited(78))
            let started = try await run(
                "sh",
                [
                    "-c",
                    #"cd "$1" && exec "$0" --detach --idle-exit 1s --socket socket --directory "$1/cache""#,
                    BuiltProducts.program("cached"), daemons.home.path,
                ], environment: daemons.environment())
            #expect(started.status == .success, "\(started.errorText)")
            try await waitUntil("the daemon to remove its socket") {
                size(at: daemons.socket) == nil
            }
        }
    }
}
