import CacheWire
import Foundation
import Glibc
import TestSupport
import Testing

/// Other users, the network and the environment cannot make the daemon do harm.
@Suite("Hardening", .serialized, .timeLimit(.minutes(5)))
struct HardeningTests {
    private static let isRoot = geteuid() == 0

    /// An address that is public elsewhere. A network namespace of its own separates it from all other programs.
    @Test(.enabled(if: isRoot, "only root can make a network"))
    func anAddressOfTheMachineItselfIsRefusedUnlessItIsAllowed() async throws {
        for isAllowed in [false, true] {
            try await withTestScope { scope in
                var options = DaemonFixture.Options()
                options.launcher = [
                    "unshare", "--net", "sh", "-c",
                    "ip link set lo up && ip address add 192.33.4.12/32 dev lo && exec \"$@\"",
                    "sh",
                ]
                options.arguments = isAllowed ? ["--allow-network", "192.33.4.12"] : []
                let daemon = try await DaemonFixture.start(options, in: scope)
                let failure = try await daemon.fetch("http://192.33.4.12:9/a.png").failure
                #expect(failure?.kind == (isAllowed ? "unreachable" : "addressRefused"))
            }
        }
    }

    /// libcurl would write the keys of all connections to that file.
    @Test func theKeysOfConnectionsAreNotWritten() async throws {
        try await withTestScope { scope in
            let authority = try await CertificateAuthority(in: scope)
            let identity = try await authority.issue(for: ["IP:127.0.0.1"])
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.png", .answer(body: SampleImage.png()))
            let front = try await TLSTerminator(identity, to: origin, in: scope)
            let home = try TemporaryDirectory(in: scope)
            let daemon = try await DaemonFixture.start(
                ["--ca-file", authority.certificate, "--restrict", "no"],
                environment: ["SSLKEYLOGFILE": home.file("keys")], in: scope)
            #expect(try await daemon.fetch(front.url("a.png")).state == .cached)
            #expect(try home.names().isEmpty)
        }
    }

    /// All users can read the directory of a shared cache, so they can lock it and the files that they can open in
    /// it.
    @Test(.enabled(if: isRoot, "only root can become other users"))
    func aLockOfAnotherUserNeitherStopsNorDelaysTheStart() async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let directory = try home.directory("cache")
            // As an earlier version left it.
            try writeFile([], to: directory + "/.lock")
            for path in [home.path, directory] { chmod(path, 0o755) }
            chmod(directory + "/.lock", 0o644)
            let holder = try ChildProcess(
                "setpriv",
                ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--", "python3", "-c"]
                    + [Self.lockAll, home.path, directory, directory + "/.lock"], in: scope)
            try await holder.waitForLine(containing: "locked", on: .standardOutput)
            var options = DaemonFixture.Options()
            options.directory = directory
            options.socket = home.file("s")
            let watch = Stopwatch()
            let daemon = try await DaemonFixture.start(options, in: scope)
            // It would wait five seconds for the lock of the socket's directory.
            if !isSanitized { #expect(watch.time < .seconds(4)) }
            #expect(try await daemon.metric("entries") == 0)
            var status = stat()
            #expect(stat(directory + "/.lock", &status) == 0 && status.st_mode & 0o777 == 0o600)
            // The daemon's own lock still counts.
            options.socket = home.file("other")
            options.waitsUntilReady = false
            let second = try await DaemonFixture.start(options, in: scope)
            #expect(try await second.process.waitForExit() == .exited(75))
        }
    }

    @Test(arguments: [(0o777, true), (0o775, true), (0o755, false)])
    func aDirectoryToWhichOthersCanWriteIsAWarning(mode: mode_t, isWarned: Bool) async throws {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            let directory = try home.directory("cache")
            chmod(directory, mode)
            var options = DaemonFixture.Options()
            options.directory = directory
            let daemon = try await DaemonFixture.start(options, in: scope)
            try await daemon.process.waitForLine(containing: "listening")
            let isThere = daemon.log.contains("other users can write to the cache directory")
            #expect(isThere == isWarned, "\(daemon.log)")
        }
    }

    private static let lockAll = """
        import fcntl, os, sys, time
        held = [os.open(path, os.O_RDONLY) for path in sys.argv[1:]]
        for descriptor in held: fcntl.flock(descriptor, fcntl.LOCK_EX)
        print('locked', flush=True)
        time.sleep(60)
        """
}
