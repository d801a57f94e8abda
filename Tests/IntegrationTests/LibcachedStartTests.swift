import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Programs over the C library on a machine where nobody has started a daemon.
@Suite("libcached starts a daemon", .serialized, .timeLimit(.minutes(5)))
struct LibcachedStartTests {
    private let image = SampleImage.png(byteCount: 90_000)

    /// A program `cached` on this machine would be found, too.
    private static let isInstalled = ["/usr/local/bin/cached", "/usr/bin/cached"]
        .contains { (path: String) in access(path, X_OK) == 0 }

    @Test func threeProgramsAtOnceGetOneDaemonAndTheirImages() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            for number in 0..<3 { origin.route("/\(number).png", .answer(body: image)) }
            let daemons = try DetachedDaemons(in: scope)
            var drivers: [LibcachedDriver] = []
            for _ in 0..<3 {
                drivers.append(try await LibcachedDriver(starting: daemons, in: scope))
            }
            for (number, driver) in drivers.enumerated() {
                try driver.tell("add 2 \(origin.url("/\(number).png"))", "news 1")
            }
            for driver in drivers { _ = try await driver.line("news cached") }
            try await waitUntil("one daemon to be left") { daemons.processes.count == 1 }
            #expect(try await drivers[0].ask("available", answer: "available") == "available 1")
        }
    }

    @Test(.enabled(if: !isInstalled, "cached is installed"))
    func withoutTheProgramImagesFailAtOnceAndCachedOnesAreShown() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(a).state == .cached)
            try await daemon.stop()
            let daemons = try DetachedDaemons(in: scope)
            // Patience would outlast the test.
            let driver = try await LibcachedDriver(
                directory: daemon.directory, socket: daemons.socket, patience: 3_600_000,
                environment: daemons.environment(path: "/nonexistent"), in: scope)
            #expect(try await driver.ask("available", answer: "available") == "available 0")
            try driver.tell("add 1 \(b)", "add 1 \(b)?2", "news 2")
            #expect(try await driver.line("news failed", number: 2).contains(" noDaemon "))
            try driver.tell("add 1 \(b)?3", "news 1")
            _ = try await driver.line("news failed \(b)?3")
            // An image that is here is better than none, even if it may be stale.
            #expect(
                try await driver.ask("get -1 \(a)", answer: "get").hasPrefix("get 2 image cached"))
            #expect(try await driver.ask("get -1 \(b)", answer: "get 3").contains(" noDaemon "))
            #expect(try await driver.line("message").contains("there is no program `cached`"))
        }
    }

    @Test func theReasonOfADaemonThatCannotStartReachesTheCaller() async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            let driver = try await LibcachedDriver(
                starting: daemons, patience: 3_600_000, ["CACHED_MAX_BYTES": "much"], in: scope)
            try driver.tell("get -1 https://a.example/a.png")
            #expect(try await driver.line("get 3").contains(" noDaemon "))
            #expect(
                try await driver.line("message").contains("CACHED_MAX_BYTES in the environment is"))
        }
    }

    /// A program in the place of `cached`: what it says, and when its caller hears of it.
    @Test(arguments: [
        ("exec sleep 10", "no daemon answers; start it"),
        ("exit 3", "`cached --detach` failed"),
        ("echo first >&2; echo 'cached: the reason' >&2; exit 1", "was started: the reason"),
        ("exit 0", "no daemon answers; start it"),
        ("kill -9 $$", "`cached --detach` failed"),
        ("exec >&- 2>&-; exec sleep 10", "no daemon answers; start it"),
        ("head -c 1000000 /dev/zero >&2; exit 1", "no daemon answers; start it"),
    ])
    func aStrangeProgramNamedCachedDoesNoHarm(script: String, message: String) async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            let program = try daemons.home.write("#!/bin/sh\n\(script)\n", to: "cached")
            #expect(chmod(program, 0o755) == 0)
            let driver = try await LibcachedDriver(
                starting: daemons, patience: 500, path: daemons.home.path, in: scope)
            try driver.tell("get -1 https://a.example/a.png")
            #expect(try await driver.line("get 3").contains(" noDaemon "))
            #expect(try await driver.line("message").contains(message))
        }
    }

    @Test func nothingIsStartedWhereThatIsForbidden() async throws {
        try await withTestScope { scope in
            let daemons = try DetachedDaemons(in: scope)
            let driver = try await LibcachedDriver(
                starting: daemons, patience: 3000, ["CACHED_START": "no"], in: scope)
            #expect(try await driver.ask("available", answer: "available") == "available 0")
            try driver.tell("get -1 https://a.example/a.png")
            #expect(try await driver.line("get 3").contains(" noDaemon "))
            #expect(daemons.processes.isEmpty && size(at: daemons.socket) == nil)
            // The program decides otherwise.
            try driver.tell("start 1", "get 9000 ftp://a.example/a.png")
            #expect(try await driver.line("get 3", number: 2).contains(" invalidURL "))
            #expect(daemons.processes.count == 1)
        }
    }

    @Test func aDaemonThatIsKilledIsStartedAgain() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 30_000, gate))
            origin.route("/b.png", .answer(body: image))
            let (a, b) = (origin.url("/a.png"), origin.url("/b.png"))
            let daemons = try DetachedDaemons(in: scope)
            let driver = try await LibcachedDriver(starting: daemons, in: scope)
            try driver.tell("add 1 \(a)", "news 1")
            _ = try await driver.line("news inFlight \(a) 30000/90000")
            try await daemons.crash()
            gate.open()
            _ = try await driver.line("news cached \(a)")
            // While nothing is wanted, and the socket is left behind.
            #expect(try await driver.ask("drop \(a)", answer: "drop") == "drop 0")
            try await daemons.crash()
            #expect(size(at: daemons.socket) != nil)
            #expect(try await driver.ask("pin \(a)", answer: "pin") == "pin 0")
            try await daemons.crash()
            let line = try await driver.ask("get 30000 \(b)", answer: "get")
            #expect(line.hasPrefix("get 2 image cached"))
        }
    }

    /// A program in the place of `systemctl`, as if the user had a service manager: with and without the unit.
    @Test(arguments: [true, false])
    func theUsersSocketUnitComesFirst(isInstalled: Bool) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let daemons = try DetachedDaemons(in: scope)
            _ = try daemons.home.directory("systemd")
            _ = try daemons.home.write("", to: "systemd/private")
            let start = "exec cached --detach --idle-exit 1h"
            let program = try daemons.home.write(
                """
                #!/bin/sh
                echo "$@" > "$HOME/asked"
                \(isInstalled ? start : "echo 'Unit cached.socket not found.' >&2; exit 5")

                """, to: "systemctl")
            #expect(chmod(program, 0o755) == 0)
            let fetch = try await run(
                BuiltProducts.program("cachectl"), ["fetch", origin.url("/a.png")],
                environment: daemons.environment(
                    path: daemons.home.path + ":" + BuiltProducts.directory(),
                    [
                        "XDG_RUNTIME_DIR": daemons.home.path,
                        "CACHED_DIRECTORY": daemons.directory,
                    ]))
            #expect(fetch.status == .success, "\(fetch.errorText)")
            let asked = try contents(of: daemons.home.file("asked"))
            #expect(
                String(decoding: asked, as: UTF8.self)
                    == "--user --no-ask-password start cached.socket\n")
            let process = try #require(daemons.processes.first)
            let words = String(
                decoding: try contents(of: "/proc/\(process)/cmdline"), as: UTF8.self)
            #expect(words.contains(isInstalled ? "1h" : "10min"))
        }
    }

    @Test func aCommandStartsADaemonToo() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: image))
            let url = origin.url("/a.png")
            let daemons = try DetachedDaemons(in: scope)
            let environment = try daemons.environment([
                "CACHED_SOCKET": daemons.socket, "CACHED_DIRECTORY": daemons.directory,
            ])
            let cachectl = try BuiltProducts.program("cachectl")
            let status = try await run(cachectl, ["status", url], environment: environment)
            #expect(status.status == .exited(69) && daemons.processes.isEmpty)
            let fetch = try await run(cachectl, ["fetch", url], environment: environment)
            #expect(fetch.status == .success, "\(fetch.errorText)")
            #expect(fetch.text.hasPrefix(daemons.directory))
            let other = try await run(
                cachectl, ["fetch", "--socket", daemons.home.file("other"), url],
                environment: environment)
            #expect(other.status == .exited(69))
            #expect(other.errorText.contains("is in use by process"))
        }
    }
}
