import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Prefetching that waits, for metered networks.
@Suite("Prefetching", .timeLimit(.minutes(5)))
struct PrefetchTests {
    /// A daemon that reads its configuration from a folder, and an origin.
    private struct Scene {
        let folder: String
        let daemon: DaemonFixture
        let origin: ScriptedOrigin

        init(prefetch: String, in scope: TestScope) async throws {
            let home = try TemporaryDirectory(in: scope)
            folder = home.path
            origin = try ScriptedOrigin(in: scope)
            var options = DaemonFixture.Options()
            options.arguments = [
                "--config", try home.write("CACHED_PREFETCH=\(prefetch)\n", to: "cached.conf"),
            ]
            daemon = try await DaemonFixture.start(options, in: scope)
        }

        func prefetch(_ path: String) async throws {
            origin.route(
                path,
                .answer(
                    headers: ["Cache-Control": "max-age=0, stale-while-revalidate=999"],
                    body: SampleImage.png()))
            let output = try await daemon.cachectl(
                "fetch", "--priority", "background", "--no-wait", origin.url(path))
            #expect(output.status == .success)
        }
    }

    @Test func backgroundDownloadsStayQueuedWithTheReasonAndOthersGoOn() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(prefetch: "no", in: scope)
            let (daemon, origin) = (scene.daemon, scene.origin)
            try await scene.prefetch("/a.png")
            try await scene.prefetch("/b.png")
            let waiting = try await daemon.status(origin.url("/a.png"))
            #expect(waiting.phase == .queued && waiting.failure?.kind == "prefetchOff")
            // Somebody wants one of them now. It ends after the other would have, from the same origin.
            for priority in ["normal", "visible"] {
                let output = try await daemon.cachectl(
                    "fetch", "--priority", priority, origin.url("/b.png"))
                #expect(output.status == .success)
            }
            #expect(origin.requests("/a.png").isEmpty)
            // A stale image is a hit, and is not confirmed behind it.
            #expect(try await daemon.fetch(origin.url("/b.png")).state == .cached)
            let stale = try await daemon.status(origin.url("/b.png"))
            #expect(stale.phase == .queued && stale.failure?.kind == "prefetchOff")
            #expect(origin.requests("/b.png").count == 1)
            try await daemon.stop()
        }
    }

    @Test func theDispatcherScriptTurnsPrefetchingOffAndOn() async throws {
        try await withTestScope { scope in
            let scene = try await Scene(prefetch: "yes", in: scope)
            let daemon = scene.daemon
            let programs = try TemporaryDirectory(in: scope)
            let reload =
                "#!/bin/sh\necho \"$*\" >>'\(programs.path)/calls'\nkill -HUP \(daemon.process.pid)\n"
            chmod(try programs.write(reload, to: "systemctl"), 0o755)
            let script = Libcached.root + "examples/metered/50-cached"
            func network(_ metered: Int, _ action: String = "up") async throws {
                chmod(try programs.write("#!/bin/sh\necho u \(metered)\n", to: "busctl"), 0o755)
                try await runSuccessfully(
                    "env",
                    [
                        "PATH=\(programs.path):/usr/bin:/bin", "CACHED_CONFIG=\(scene.folder)",
                        script, "eth0", action,
                    ])
            }
            func reloads() -> Int {
                daemon.log.split(separator: "\n").count { $0.contains("configuration read again") }
            }
            try await network(1)
            try await waitUntil("the reload") { reloads() == 1 }
            try await scene.prefetch("/a.png")
            #expect(try await daemon.status(scene.origin.url("/a.png")).phase == .queued)
            // Nothing changes, so nothing is reloaded.
            try await network(3)
            try await network(4, "hostname")
            try await network(4)
            try await daemon.waitForState(.cached, of: scene.origin.url("/a.png"))
            let calls = try contents(of: "\(programs.path)/calls")
            #expect(String(decoding: calls, as: UTF8.self).split(separator: "\n").count == 2)
        }
    }
}
