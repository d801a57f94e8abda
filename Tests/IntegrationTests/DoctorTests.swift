import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// `cachectl doctor`, each check with the bad state for real.
@Suite("Doctor", .timeLimit(.minutes(5)))
struct DoctorTests {
    /// A finding as `--json` prints it.
    private struct Finding: Decodable {
        let check, level, message: String
        let fix: String?
    }

    private struct Diagnosis {
        let status: TestSupport.ExitStatus
        let findings: [Finding]

        subscript(check: String) -> [Finding] { findings.filter { $0.check == check } }

        func expect(
            _ check: String, _ level: String, _ words: String,
            at location: SourceLocation = #_sourceLocation
        ) {
            let found = self[check]
            #expect(
                found.contains { $0.level == level && $0.message.contains(words) },
                "\(found)", sourceLocation: location)
            #expect(
                level == "ok" || found.allSatisfy { $0.fix?.isEmpty == false },
                "\(found)", sourceLocation: location)
            // Something wrong is the status of the command.
            if level == "wrong" { #expect(status == .exited(1), sourceLocation: location) }
        }
    }

    private func diagnose(
        _ environment: [String: String], launcher: [String] = [], program: String? = nil
    ) async throws -> Diagnosis {
        let words =
            launcher + [try program ?? BuiltProducts.program("cachectl"), "doctor", "--json"]
        let output = try await run(
            words[0], Array(words.dropFirst()), environment: minimalEnvironment(environment))
        #expect(output.errorText == "")
        let findings = try output.lines.map {
            try JSONDecoder().decode(Finding.self, from: Data($0.utf8))
        }
        return Diagnosis(status: output.status, findings: findings)
    }

    private func diagnose(
        _ daemon: DaemonFixture, _ environment: [String: String] = [:], launcher: [String] = [],
        program: String? = nil
    ) async throws -> Diagnosis {
        try await diagnose(
            environment.merging(["CACHED_SOCKET": daemon.socket]) { $1 }, launcher: launcher,
            program: program)
    }

    /// Without a daemon, and with this directory.
    private func diagnose(directory: String) async throws -> Diagnosis {
        try await diagnose(["CACHED_SOCKET": "/nonexistent/s", "CACHED_DIRECTORY": directory])
    }

    @Test func aGoodInstallationHasNothingWrong() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(
                ["--contact", "mailto:ada@example.com", "--min-free", "1MB"], in: scope)
            let diagnosis = try await diagnose(daemon)
            #expect(diagnosis.status == .success, "\(diagnosis.findings)")
            diagnosis.expect("daemon", "ok", "process \(daemon.process.pid)")
            diagnosis.expect("directory", "ok", daemon.directory)
            diagnosis.expect("contact", "ok", "mailto:ada@example.com")
            diagnosis.expect("proxy", "ok", "no proxy")
            diagnosis.expect("trust", "ok", "certificates are in /")
            for check in ["attributes", "watches", "space", "access", "clock"] {
                #expect(diagnosis[check].map(\.level) == ["ok"], "\(check)")
            }
            let table = try await daemon.cachectl("doctor")
            #expect(table.status == .success)
            #expect(table.lines.count >= diagnosis.findings.count)
            #expect(table.lines.first?.hasPrefix("ok    daemon      version ") == true)
        }
    }

    @Test func noDaemonAndNoDirectory() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let absent = try await diagnose(directory: home.file("cache"))
            absent.expect("daemon", "wrong", "no daemon answers at /nonexistent/s")
            absent.expect("directory", "note", "does not exist yet")
            let file = try await diagnose(directory: home.write("", to: "file"))
            file.expect("directory", "wrong", "is not a directory")
            let below = try await diagnose(directory: home.file("file/cache"))
            below.expect("directory", "wrong", "Not a directory")
        }
    }

    @Test func aDirectoryThatWasMovedAway() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(rename(daemon.directory, daemon.directory + "2") == 0)
            let diagnosis = try await diagnose(daemon)
            diagnosis.expect("directory", "wrong", "no longer the directory")
        }
    }

    @Test(
        .enabled(if: SmallFileSystem.obstacle == nil, "\(SmallFileSystem.obstacle ?? "")"))
    func fileSystemsWithoutAttributesOrRoom() async throws {
        try await withTestScope { scope in
            let bare = try TemporaryDirectory(in: scope).directory("ramfs")
            try await runSuccessfully("mount", ["-t", "ramfs", "ramfs", bare])
            scope.atEnd { try await runSuccessfully("umount", ["--lazy", bare]) }
            let diagnosis = try await diagnose(directory: bare)
            diagnosis.expect("attributes", "wrong", "ramfs")
            diagnosis.expect("directory", "note", "ramfs")

            let small = try await SmallFileSystem(bytes: 8 << 20, in: scope).path
            var options = DaemonFixture.Options()
            options.arguments = ["--min-free", "1MiB", "--max-bytes", "1GB"]
            options.directory = small
            let daemon = try await DaemonFixture.start(options, in: scope)
            let limited = try await diagnose(daemon)
            limited.expect("space", "note", "instead of 1.0 GB")
            limited.expect("directory", "note", "tmpfs")
            try await runSuccessfully("truncate", ["-s", "0", "\(small)/filler"])
            try await runSuccessfully("fallocate", ["-l", "7500000", "\(small)/filler"])
            let full = try await diagnose(daemon)
            full.expect("space", "wrong", "must leave")
            try await runSuccessfully("mount", ["-o", "remount,ro", small])
            let readOnly = try await diagnose(daemon)
            readOnly.expect("directory", "wrong", "cannot write")
        }
    }

    /// Whether this user may make user namespaces, whose limits hold for one process alone. namespaces(7)
    private static let hasNamespaces: Bool = {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = ["--user", "--map-root-user", "true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    @Test(
        .enabled(if: hasNamespaces, "this user may not make user namespaces"),
        arguments: ["instances", "watches"])
    func usedUpWatches(limit: String) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let script = "echo 0 > /proc/sys/user/max_inotify_\(limit) && exec \"$@\""
            let diagnosis = try await diagnose(
                ["CACHED_DIRECTORY": home.path, "CACHED_SOCKET": "/nonexistent/s"],
                launcher: ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh"])
            diagnosis.expect("watches", "wrong", "inotify \(limit) of this user are used up")
        }
    }

    @Test func otherUsersAccess() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(["--socket-mode", "666"], in: scope)
            let closed = try await diagnose(daemon)
            closed.expect("access", "wrong", "not every user may search")
            chmod(daemon.directory, 0o777)
            chmod(String(daemon.socket.dropLast(2)), 0o755)
            chmod(String(daemon.directory.dropLast("/cache".count)), 0o755)
            let open = try await diagnose(daemon)
            open.expect("access", "wrong", "other users can write")
            #expect(open["access"].count == 1)
            chmod(daemon.directory, 0o755)
            #expect(try await diagnose(daemon)["access"].map(\.level) == ["ok"])
            if geteuid() == 0 {
                chown(daemon.directory, 65534, 65534)
                let foreign = try await diagnose(daemon)
                foreign.expect("access", "wrong", "belongs to user 65534")
            }
        }
    }

    @Test func wrongClocks() async throws {
        try await withTestScope { scope in
            let cache = try await FilledCache(2, in: scope)
            #expect(try await diagnose(cache.daemon)["clock"].map(\.level) == ["ok"])
            try await runSuccessfully("touch", ["-d", "2 days", try cache.path(1)])
            let future = try await diagnose(cache.daemon)
            future.expect(
                "clock", "wrong", "1 image such as \(try key(cache.urls[1])) is from later")
            // If the clock is in the past, the program seems to come from the future.
            let copy = try TemporaryDirectory(in: scope).file("cachectl")
            try await runSuccessfully("cp", [try BuiltProducts.program("cachectl"), copy])
            try await runSuccessfully("touch", ["-d", "2 days", copy])
            let past = try await diagnose(cache.daemon, program: copy)
            past.expect("clock", "wrong", "this program is from")
        }
    }

    @Test func pressure() async throws {
        try await withTestScope { scope in
            let off = try await DaemonFixture.start(in: scope)
            try await diagnose(off).expect("pressure", "note", "not watched")
            let fifo = try FIFO(in: scope)
            let on = try await DaemonFixture.start(
                environment: ["MEMORY_PRESSURE_WATCH": fifo.path], in: scope)
            try await diagnose(on).expect("pressure", "ok", "\(fifo.path) is watched; no pressure")
            try fifo.write("x")
            try await waitUntil("the reaction") { try await on.metric("pressureReactions") == 1 }
            try await diagnose(on).expect("pressure", "ok", "1 reaction, the last one")
        }
    }

    @Test func theWayToTheServers() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let trusted = try TemporaryDirectory(in: scope).write(
                try contents(of: authority.certificate), to: "ca.pem")
            let daemon = try await DaemonFixture.start(
                ["--ca-file", trusted, "--ca-only", "yes"], in: scope)
            try await diagnose(daemon).expect("trust", "ok", trusted)
            try await runSuccessfully("truncate", ["-s", "0", trusted])
            try await diagnose(daemon).expect("trust", "wrong", trusted)

            let behind = try await diagnose(daemon, ["https_proxy": "http://proxy.example:3128"])
            behind.expect("proxy", "note", "https_proxy")
            behind.expect("contact", "note", "without a contact")
            let proxied = try await DaemonFixture.start(
                ["--proxy", "http://127.0.0.1:1"], in: scope)
            let uses = try await diagnose(proxied, ["https_proxy": "http://proxy.example:3128"])
            uses.expect("proxy", "ok", "http://127.0.0.1:1")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can become a user without permission to connect"))
    func notPermitted() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let home = try TemporaryDirectory(in: scope)
            for path in [home.path, String(daemon.socket.dropLast(2))] { chmod(path, 0o755) }
            let copy = home.file("cachectl")
            try await runSuccessfully("cp", [try BuiltProducts.program("cachectl"), copy])
            let diagnosis = try await diagnose(
                daemon, ["CACHED_DIRECTORY": daemon.directory],
                launcher: [
                    "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--",
                ],
                program: copy)
            diagnosis.expect("daemon", "wrong", "not permitted to connect")
            diagnosis.expect("directory", "wrong", "this user cannot write")
        }
    }
}
