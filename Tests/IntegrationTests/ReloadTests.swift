import CacheWire
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// `SIGHUP`: new settings while the daemon works.
@Suite("Reload", .serialized, .timeLimit(.minutes(5)))
struct ReloadTests {
    /// A daemon whose configuration a test changes.
    private struct Scene {
        let home: TemporaryDirectory
        let daemon: DaemonFixture

        init(_ text: String = "", allowsLoopback: Bool = true, in scope: TestScope) async throws {
            home = try TemporaryDirectory(in: scope)
            var options = DaemonFixture.Options()
            options.arguments = ["--config", try home.write(text, to: "cached.conf")]
            options.allowsLoopback = allowsLoopback
            daemon = try await DaemonFixture.start(options, in: scope)
        }

        /// Changes the configuration and waits until the daemon has read it; returns the lines of its log since then.
        func reload(_ text: String) async throws -> String {
            let before = daemon.log.count
            let count = reloads
            try home.write(text, to: "cached.conf")
            daemon.process.signal(SIGHUP)
            try await waitUntil("the reload") {
                _ = try await daemon.metric("calls")
                return reloads > count
            }
            return String(daemon.log.dropFirst(before))
        }

        private var reloads: Int {
            daemon.log.split(separator: "\n").count {
                $0.contains("configuration read again") || $0.contains("configuration is invalid")
            }
        }
    }

    /// Tells the callers to end.
    private final class End: Sendable {
        private let flag = Mutex(false)

        var isReached: Bool {
            get { flag.withLock { $0 } }
            set { flag.withLock { $0 = newValue } }
        }
    }

    @Test func aReloadUnderLoadLosesNoCall() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let (callers, most) = (4, 300)
            for caller in 0..<callers {
                for number in 0..<most {
                    let image = SampleImage.png(byteCount: 2000, seed: number)
                    origin.route("/\(caller)-\(number).png", .answer(body: image))
                }
            }
            let (end, daemon) = (End(), scene.daemon)
            let before = try await scene.daemon.metric("calls")
            let asked = try await withThrowingTaskGroup(of: Int.self) { group in
                for caller in 0..<callers {
                    group.addTask {
                        let connection = try daemon.connect()
                        var calls = 0
                        for number in 0..<most where !end.isReached {
                            let url = origin.url("/\(caller)-\(number).png")
                            for method in ["Status", "Fetch", "Status"] {
                                let reply = try await connection.ask(call(method, [url]))
                                #expect(reply.error == nil)
                                let state = reply.items.first?.state
                                #expect(state == (calls % 3 == 0 ? .missing : .cached), "\(url)")
                                calls += 1
                            }
                        }
                        return calls
                    }
                }
                for round in 0..<15 {
                    let lines = try await scene.reload(
                        """
                        CACHED_MAX_TRANSFERS=\(1 + round % 5)
                        CACHED_MAX_TRANSFERS_PER_HOST=\(1 + round % 3)
                        CACHED_MAX_RATE=\(round % 2 == 0 ? "" : "900M")
                        CACHED_STALE_IF_ERROR=\(round)s
                        """)
                    #expect(lines.contains("changed=\"CACHED_MAX_TRANSFERS, "), "\(lines)")
                }
                end.isReached = true
                return try await group.reduce(0, +)
            }
            #expect(asked >= 3 * callers)
            let failed = try await scene.daemon.metric("failed")
            #expect(failed == 0)
            #expect(try await scene.daemon.metric("published") == asked / 3)
            #expect(try await scene.daemon.metric("calls") > before + asked)
        }
    }

    @Test func aDownloadThatRunsGoesOn() async throws {
        try await withTestScope { scope in
            let scene = try await Scene("CACHED_ACCEPT=any\n", in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let body = Array(repeating: UInt8(ascii: "x"), count: 100_000)
            origin.route("/a", .gated(body, after: 50_000, gate))
            let url = origin.url("/a")
            let connection = try scene.daemon.connect()
            try await connection.send(call("Fetch", [url]) + "\0")
            try await origin.waitForRequest("/a")
            _ = try await scene.reload("CACHED_MAX_TRANSFERS=1\nCACHED_MAX_RATE=50M\n")
            gate.open()
            // It keeps the settings that it began with, so that any file is accepted.
            let reply = try await connection.nextReply()
            #expect(reply.items.first?.state == .cached)
            origin.route("/b", .answer(body: body))
            #expect(try await scene.daemon.fetch(origin.url("/b")).failure?.kind == "notAnImage")
        }
    }

    @Test func newSettingsCountAtOnce() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(allowsLoopback: false, in: scope)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let url = origin.url("/a.png")
            #expect(try await scene.daemon.fetch(url).failure?.kind == "addressRefused")
            let lines = try await scene.reload(
                """
                CACHED_ALLOW_NETWORK=127.0.0.0/8
                CACHED_USER_AGENT=Tuba/1.0
                CACHED_LOG_LEVEL=debug
                CACHED_LOG_FORMAT=json
                CACHED_MAX_BYTES=7M
                """)
            #expect(lines.contains("{\"time\":"), "\(lines)")
            #expect(try await scene.daemon.fetch(url).state == .cached)
            let request = try #require(origin.requests("/a.png").first)
            #expect(request.headers["User-Agent"] == "Tuba/1.0")
            #expect(try await scene.daemon.metric("bytesBudget") == 7 << 20)
            // Taking a network back counts for idle connections too.
            _ = try await scene.reload("")
            origin.route("/b.png", .answer(body: SampleImage.png()))
            let refused = try await scene.daemon.fetch(origin.url("/b.png"))
            #expect(refused.failure?.kind == "addressRefused")
        }
    }

    /// With the rate, its downloads would take hours. An image that was too large for the old limit is requested
    /// again, although the failure is remembered for minutes.
    @Test func anImageOfTooManyPixelsIsTriedAgainAfterTheLimitWasRaised() async throws {
        try await withTestScope { scope in
            let text = "CACHED_MAX_PIXELS="
            var scene = DaemonFixture.Options()
            let home = try TemporaryDirectory(in: scope)
            scene.arguments = ["--config", try home.write(text + "99\n", to: "cached.conf")]
            let daemon = try await DaemonFixture.start(scene, in: scope)
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png(width: 10, height: 10)))
            let url = origin.url("/a.png")
            for _ in 0..<2 {
                let failure = try await daemon.fetch(url).failure
                #expect(failure?.kind == "tooLarge" && failure?.retryAt != nil)
            }
            #expect(origin.requests().count == 1)
            try home.write(text + "100\n", to: "cached.conf")
            daemon.process.signal(SIGHUP)
            try await daemon.process.waitForLine(containing: "configuration read again")
            #expect(try await daemon.fetch(url).state == .cached)
        }
    }

    @Test func downloadsThatTheRateHeldBackContinueWithoutIt() async throws {
        try await withTestScope { scope in
            let scene = try await Scene("CACHED_MAX_RATE=2K\n", in: scope)
            let origin = try ScriptedOrigin(in: scope)
            let urls = (0..<3).map { number in
                origin.route("/\(number).png", .answer(body: SampleImage.png(byteCount: 3_000_000)))
                return origin.url("/\(number).png")
            }
            let connection = try scene.daemon.connect()
            try await connection.send(call("Fetch", urls) + "\0")
            for number in 0..<3 { try await origin.waitForRequest("/\(number).png") }
            _ = try await scene.reload("")
            let reply = try await connection.nextReply()
            #expect(reply.items.allSatisfy { $0.state == .cached })
        }
    }

    @Test func whatNeedsARestartIsNamedAndOldValuesStay() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(in: scope)
            let lines = try await scene.reload("CACHED_SOCKET_MODE=666\nCACHED_MAX_RATE=5M\n")
            #expect(lines.contains("changed=CACHED_MAX_RATE"))
            let warning = try await scene.daemon.process.waitForLine(containing: "need a restart")
            #expect(warning.contains("settings=CACHED_SOCKET_MODE"))
            var status = stat()
            try #require(stat(scene.daemon.socket, &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600)
        }
    }

    @Test func aBadConfigurationChangesNothing() async throws {
        try await withTestScope { scope in
            let scene = try await Scene("CACHED_MAX_BYTES=8M\n", in: scope)
            try scene.home.directory("headers.d")
            try scene.home.write("no section\n", to: "headers.d/bad")
            let good = "CACHED_MAX_BYTES=9M\n"
            for (text, said) in [
                (good, "headers.d/bad:1"),
                (good + "CACHED_MAX_RATE=fast\n", "cached.conf:2: CACHED_MAX_RATE"),
                (good + "CACHED_CA_FILE=/nonexistent.pem\n", "/nonexistent.pem"),
                (good + "CACHED_MIN_FREE=1000000T\n", "are to stay free"),
            ] {
                let lines = try await scene.reload(text)
                #expect(lines.contains("settings unchanged") && lines.contains(said), "\(lines)")
                #expect(try await scene.daemon.metric("bytesBudget") == 8 << 20)
                try? FileManager.default.removeItem(atPath: scene.home.file("headers.d"))
            }
            _ = try await scene.reload(good)
            #expect(try await scene.daemon.metric("bytesBudget") == 9 << 20)
        }
    }
}
