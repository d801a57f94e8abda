import CacheWire
import Glibc
import TestSupport
import Testing

/// `cachectl name`, with and without a daemon.
@Suite("Names by cachectl", .timeLimit(.minutes(5)))
struct NameTests {
    @Test func namePrintsThePathThatTheDaemonUses() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let url = "https://example.com/a.png"
            let name = "c01a4429-4703-5b6a-8726-7982c1849d2a"
            let place = ["CACHED_SOCKET": daemon.socket]
            func run(_ added: [String: String]) async throws -> ProcessOutput {
                try await TestSupport.run(
                    BuiltProducts.program("cachectl"), ["name", "--path", url],
                    environment: minimalEnvironment(added))
            }
            let other = try await run(place.merging(["HOME": "/home/me"]) { $1 })
            #expect(other.lines == ["\(daemon.directory)/\(name)"])
            #expect(
                other.errorText.contains(
                    "the daemon's directory is \(daemon.directory), not /home/me/.cache/cached"))
            let same = try await run(place.merging(["CACHED_DIRECTORY": daemon.directory]) { $1 })
            #expect(same.lines == other.lines && same.errorText == "")
            try await daemon.stop()
            let alone = try await run(place.merging(["HOME": "/home/me"]) { $1 })
            #expect(alone.lines == ["/home/me/.cache/cached/\(name)"] && alone.errorText == "")
            #expect(try await daemon.restart().ask(call("Where")).error == nil)
        }
    }

    @Test func nameNeedsNoDaemon() async throws {
        let url = "http://www.example.com/"
        let name = "fcde3c85-2270-590f-9e7c-ee003d65e0e2"
        let program = try BuiltProducts.program("cachectl")
        // The home directory of the user database.
        let fields = try await runSuccessfully("getent", ["passwd", "\(geteuid())"])
            .split(separator: ":")
        let home = try #require(fields.dropFirst(5).first)
        for (arguments, environment, line) in [
            ([url], [:], name),
            (["--path", "--directory", "/d", url], [:], "/d/\(name)"),
            (["--path", url], ["CACHED_DIRECTORY": "/e"], "/e/\(name)"),
            (["--path", url], ["XDG_CACHE_HOME": "/x"], "/x/cached/\(name)"),
            (["--path", url], ["HOME": "/h"], "/h/.cache/cached/\(name)"),
            (["--path", url], [:], "\(home)/.cache/cached/\(name)"),
            (["--path", url], ["HOME": ""], "\(home)/.cache/cached/\(name)"),
        ] as [([String], [String: String], String)] {
            let output = try await TestSupport.run(
                program, ["name"] + arguments, environment: minimalEnvironment(environment))
            #expect(output.status == .success)
            #expect(output.text == line + "\n")
        }
        let bad = try await TestSupport.run(program, ["name", "nonsense", url])
        #expect(bad.status == .exited(65))
        #expect(bad.lines == [name])
    }
}
