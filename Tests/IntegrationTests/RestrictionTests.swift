import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// The daemon gives up the rights that it does not need, and still does all its work.
@Suite(
    "Restriction", .serialized, .timeLimit(.minutes(5)),
    .enabled(if: !isSanitized, "a sanitizer needs more rights"))
struct RestrictionTests {
    @Test(arguments: ["partly", "yes"])
    func noThreadKeepsAPrivilege(extent: String) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--restrict", extent], in: scope)
            _ = try await daemon.fetch("http://127.0.0.1:1/a.png")
            let tasks = "/proc/\(daemon.process.pid)/task"
            let threads = try FileManager.default.contentsOfDirectory(atPath: tasks)
            #expect(threads.count > 5)
            for thread in threads {
                guard let status = try? contents(of: "\(tasks)/\(thread)/status") else { continue }
                let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
                let facts = lines.map { $0.split(whereSeparator: \.isWhitespace).joined() }
                for fact in [
                    "NoNewPrivs:1", "Seccomp:2", "CapPrm:0000000000000000",
                    "CapEff:0000000000000000", "CapInh:0000000000000000",
                    "CapAmb:0000000000000000",
                ] {
                    #expect(facts.contains(fact), "thread \(thread)")
                }
                if geteuid() == 0 { #expect(facts.contains("CapBnd:0000000000000000")) }
            }
            #expect(daemon.log.contains("the daemon runs as root") == (geteuid() == 0))
        }
    }

    /// All users can read the file. Only its folder was not among those of the start. A daemon whose kernel has no
    /// Landlock says so, and can read it.
    @Test(arguments: ["yes", "partly", "no"])
    func aFileElsewhereCannotBeRead(extent: String) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let other = try TemporaryDirectory(in: scope)
            let certificates = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"
            let inside = try home.write(certificates, to: "ca.pem")
            let outside = try other.write(certificates, to: "ca.pem")
            var options = DaemonFixture.Options()
            options.arguments = [
                "--config", try home.write("", to: "cached.conf"), "--restrict", extent,
            ]
            let daemon = try await DaemonFixture.start(options, in: scope)
            let limitsPaths = extent == "yes" && !daemon.log.contains("Landlock")
            var reloads = 0
            for (file, isReadable) in [(inside, true), (outside, !limitsPaths)] {
                try home.write("CACHED_CA_FILE=\(file)\n", to: "cached.conf")
                daemon.process.signal(SIGHUP)
                reloads += 1
                let expected = reloads
                try await waitUntil("the reload") {
                    _ = try await daemon.metric("calls")
                    let log = daemon.log
                    return log.split(separator: "\n").count {
                        $0.contains("configuration read again")
                            || $0.contains("configuration is invalid")
                    } == expected
                }
                #expect(daemon.log.contains("configuration is invalid") == !isReadable, "\(file)")
            }
        }
    }

    /// The purposes of its paths and system calls.
    @Test func itStillDoesAllItsWork() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            for name in ["/a.png", "/b.png", "/c.png"] {
                origin.route(name, .answer(body: SampleImage.png(byteCount: 200_000)))
            }
            let daemon = try await DaemonFixture.start(["--restrict", "yes"], in: scope)
            // The resolver reads its files, and a thread of its own looks the name up.
            let named = origin.url("/a.png").replacing("127.0.0.1", with: "localhost")
            #expect(try await daemon.fetch(named).state == .cached)
            #expect(try await daemon.cachectl("verify").status == .success)
            #expect(try await daemon.cachectl("evict", "--to", "0").status == .success)
            #expect(try await daemon.fetch(origin.url("/b.png")).state == .cached)
            try await daemon.stop()
            #expect(!FileManager.default.fileExists(atPath: daemon.socket))
        }
    }

    /// Its rights belong to the directory that was there at the start. The next start makes a new one.
    @Test(arguments: ["removed", "replaced"])
    func itEndsWithoutItsDirectory(change: String) async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--restrict", "yes"], in: scope)
            guard !daemon.log.contains("Landlock") else { return }
            if change == "replaced" {
                try FileManager.default.moveItem(
                    atPath: daemon.directory, toPath: daemon.directory + ".old")
                try FileManager.default.createDirectory(
                    atPath: daemon.directory, withIntermediateDirectories: false)
            } else {
                try FileManager.default.removeItem(atPath: daemon.directory)
            }
            #expect(try await daemon.process.waitForExit() == .exited(75))
            #expect(daemon.log.contains("a restricted daemon cannot use another one"))
            #expect(!FileManager.default.fileExists(atPath: daemon.socket))
        }
    }

    /// It keeps the rights over files, because nothing starts it again.
    @Test func inTheForegroundItMakesItsDirectoryAgain() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/c.png", .answer(body: SampleImage.png(byteCount: 2000)))
            let daemon = try await DaemonFixture.start(["--restrict", "auto"], in: scope)
            try FileManager.default.removeItem(atPath: daemon.directory)
            try await waitUntil("the directory to be usable again") {
                try await daemon.fetch(origin.url("/c.png")).state == .cached
            }
        }
    }
}
