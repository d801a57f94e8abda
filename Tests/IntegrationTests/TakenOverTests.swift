import CTestSupport
import Foundation
import Glibc
import TestSupport
import Testing

/// Whether the kernel is that of the table, and nothing else restricts the daemon.
private let canMeasure: Bool = {
    #if arch(x86_64)
        let release = ProcessInfo.processInfo.operatingSystemVersion
        let version = (release.majorVersion, release.minorVersion)
        return version >= (6, 12) && version < (7, 1) && !isSanitized
            && getenv("CACHED_TEST_WRAPPER") == nil
    #else
        return false
    #endif
}()

/// The table in `docs/understand/restrictions.md`, measured from inside running daemons. `CACHED_TEST_WRITE=1` writes it anew.
@Suite("Taken over", .timeLimit(.minutes(5)), .enabled(if: canMeasure, "not this machine's"))
struct TakenOverTests {
    /// What attackers want, with the results of the system calls that would do it.
    private typealias Row = (aim: String, results: [Int])

    @Test func theDocumentedTableIsWhatADaemonCanDo() async throws {
        let path = Libcached.root + "docs/understand/restrictions.md"
        let page = try String(contentsOfFile: path, encoding: .utf8)
        let partly = try await rows("partly").map(Self.cell)
        let rows = try await rows("yes")
        var table = "| inside the daemon | `partly` | `yes` |\n|---|---|---|\n"
        for (row, other) in zip(rows, partly) {
            table += "| \(row.aim) | \(other) | \(Self.cell(row)) |\n"
        }
        #expect(rows.map(\.results.count).reduce(0, +) >= 47)
        let parts = page.split(separator: /<!-- table -->\n|<!-- end of table -->/)
        try #require(parts.count == 3, "the page has its table between two comments")
        let expected = "\(parts[0])<!-- table -->\n\(table)<!-- end of table -->\(parts[2])"
        if getenv("CACHED_TEST_WRITE") != nil {
            try expected.write(toFile: path, atomically: true, encoding: .utf8)
        } else {
            #expect(page == expected, "\(table)")
        }
    }

    /// Without restrictions, a call is refused by nothing else. Those that are for root alone are not tried so.
    @Test(.enabled(if: geteuid() == 0)) func withoutRestrictionsAllCallsWork() async throws {
        for row in try await rows("no", isHarmless: true) {
            #expect(Self.cell(row) == "yes", "\(row)")
        }
    }

    private static func cell(_ row: Row) -> String {
        let refusals = [EPERM, EACCES, ENOSYS, EXDEV].map { -Int($0) }
        let refused = row.results.count { refusals.contains($0) }
        return refused == 0 ? "yes" : refused == row.results.count ? "no" : "partly"
    }

    private func rows(_ extent: String, isHarmless: Bool = false) async throws -> [Row] {
        try await withTestScope { scope in
            let home = try TemporaryDirectory(in: scope)
            // A program of the same user, without capabilities like the daemon itself.
            let other = try await DaemonFixture.start(["--restrict", "partly"], in: scope)
            let daemon = try await DaemonFixture.start(["--restrict", extent], in: scope)
            try #require(!daemon.log.contains("missing="))
            let origin = try ScriptedOrigin(in: scope)
            let inside = try await TakenOverProcess(daemon.process, thread: "transfers")
            let cache =
                try files(inside, home, daemon)
                + others(inside, other)
                + programs(inside, home, daemon)
            let sockets = try sockets(inside, home, other.socket, origin.port)
            return cache + sockets + (isHarmless ? [] : try system(inside))
        }
    }

    private static let here = TakenOverProcess.Argument.number(Int(AT_FDCWD))

    private func files(
        _ inside: TakenOverProcess, _ home: TemporaryDirectory, _ daemon: DaemonFixture
    ) throws -> [Row] {
        func file(_ name: String) throws -> TakenOverProcess.Argument {
            .text(try home.write("secret", to: name))
        }
        func own(_ name: String) -> TakenOverProcess.Argument {
            .text("\(daemon.directory)/\(name)")
        }
        func opens(
            _ path: TakenOverProcess.Argument, _ flags: Int32, _ mode: Int = 0o600
        ) throws -> Int {
            try inside.call(SYS_openat, Self.here, path, .flags(flags), .number(mode))
        }
        let (here, folder) = (Self.here, TakenOverProcess.Argument.text(home.path))
        return [
            (
                "read files of the user, list a folder",
                [try opens(file("a"), O_RDONLY), try opens(folder, O_RDONLY | O_DIRECTORY)]
            ),
            (
                "write to, make, shorten, remove and rename them",
                [
                    try opens(file("a"), O_WRONLY),
                    try opens(.text(home.file("b")), O_CREAT | O_WRONLY),
                    try inside.call(SYS_truncate, file("a"), 0),
                    try inside.call(SYS_unlinkat, here, file("c"), 0),
                    try inside.call(SYS_renameat, here, file("d"), here, .text(home.file("e"))),
                    try inside.call(SYS_mkdirat, here, .text(home.file("f")), 0o700),
                ]
            ),
            (
                "link one into the cache",
                [try inside.call(SYS_linkat, here, file("a"), here, own("link"), 0)]
            ),
            (
                "see which files there are, and when they change",
                [
                    try inside.call(SYS_newfstatat, here, file("a"), inside.address, 0),
                    try inside.call(
                        SYS_inotify_add_watch, .number(try inside.call(SYS_inotify_init1, 0)),
                        folder, 2),
                ]
            ),
            (
                "change their modes, times and extended attributes",
                [
                    try inside.call(SYS_fchmodat, here, file("a"), 0o644),
                    try inside.call(SYS_utimensat, here, file("a"), 0, 0),
                    try inside.call(SYS_setxattr, file("a"), "user.x", "x", 1, 0),
                ]
            ),
            ("read files of the system", [try opens("/etc/passwd", O_RDONLY)]),
            (
                "change files of the cache",
                [
                    try opens(own("b"), O_CREAT | O_WRONLY),
                    try inside.call(SYS_unlinkat, here, own("b"), 0),
                ]
            ),
            (
                "leave a set-user-ID file there",
                [
                    try opens(own("c"), O_CREAT | O_WRONLY, 0o4755),
                    try inside.call(
                        SYS_fchmod, .number(try opens(own("d"), O_CREAT | O_WRONLY)), 0o4755),
                    try inside.call(SYS_fchmodat, here, own("d"), 0o4755),
                ]
            ),
        ]
    }

    private func others(_ inside: TakenOverProcess, _ other: DaemonFixture) throws -> [Row] {
        let process = TakenOverProcess.Argument.number(Int(other.process.pid))
        let folder = "/proc/\(other.process.pid)/"
        func opens(_ name: String, _ flags: Int32) throws -> Int {
            try inside.call(SYS_openat, Self.here, .text(folder + name), .flags(flags), 0)
        }
        return [
            (
                "read the memory and environment of other programs",
                [try opens("mem", O_RDONLY), try opens("environ", O_RDONLY)]
            ),
            ("write into their memory", [try opens("mem", O_RDWR)]),
            (
                "debug them, take their descriptors",
                [
                    // With an argument that is wrong in another way.
                    try inside.call(SYS_ptrace, 0x4206, process, 1, 0),
                    try inside.call(SYS_process_vm_readv, process, 0, 0, 0, 0, 0),
                    try inside.call(SYS_process_vm_writev, process, 0, 0, 0, 0, 0),
                    try inside.call(SYS_pidfd_open, process, 0),
                ]
            ),
            ("send them signals", [try inside.call(SYS_kill, process, .flags(SIGURG))]),
            ("lower their priority", [try inside.call(SYS_setpriority, 0, process, 5)]),
        ]
    }

    private func programs(
        _ inside: TakenOverProcess, _ home: TemporaryDirectory, _ daemon: DaemonFixture
    ) throws -> [Row] {
        let program = try home.write("no program", to: "program")
        chmod(program, 0o755)
        let own = TakenOverProcess.Argument.text("\(daemon.directory)/mapped")
        let (size, flags) = (
            TakenOverProcess.Argument.number(4096), Int32(MAP_PRIVATE | MAP_ANONYMOUS)
        )
        let file = try inside.call(SYS_openat, Self.here, own, .flags(O_CREAT | O_RDWR), 0o600)
        let executable = TakenOverProcess.Argument.flags(PROT_READ, PROT_EXEC)
        return [
            (
                "start programs of the system and of the user",
                [
                    try inside.call(SYS_execve, .text(program), 0, 0)
                ]
            ),
            (
                "make processes that are no threads",
                // With flags that are wrong in another way.
                [try inside.call(SYS_clone, 0x800, 0, 0, 0, 0)]
            ),
            (
                "run code from memory that it has written",
                [
                    try inside.call(
                        SYS_mmap, 0, size, .flags(PROT_WRITE, PROT_EXEC), .flags(flags), -1, 0),
                    try inside.call(SYS_mprotect, inside.address, size, executable),
                ]
            ),
            (
                "run code from a file in the cache",
                [
                    try inside.call(
                        SYS_mmap, 0, size, executable, .flags(MAP_PRIVATE), .number(file), 0)
                ]
            ),
        ]
    }

    private func sockets(
        _ inside: TakenOverProcess, _ home: TemporaryDirectory, _ path: String, _ port: Int
    ) throws -> [Row] {
        func unix(_ name: [UInt8]) -> [UInt8] { [UInt8(AF_UNIX), 0] + name }
        let loopback =
            [UInt8(AF_INET), 0] + [port >> 8, port & 255].map { UInt8($0) }
            + [127, 0, 0, 1] + Array(repeating: 0, count: 8)
        let anyPort = [UInt8(AF_INET)] + Array(repeating: 0, count: 15)
        let abstract = unix([0] + Array("cached-test-\(getpid())-\(port)".utf8))
        let listening = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listening) }
        let isBound = abstract.withUnsafeBytes {
            bind(
                listening, $0.baseAddress?.assumingMemoryBound(to: sockaddr.self),
                socklen_t($0.count))
        }
        try #require(isBound == 0 && listen(listening, 8) == 0)
        func uses(_ call: Int32, _ address: [UInt8], _ type: Int = 1) throws -> Int {
            let made = try inside.call(SYS_socket, .number(Int(address[0])), .number(type), 0)
            guard made >= 0 else { return made }
            defer { _ = try? inside.call(SYS_close, .number(made)) }
            return try inside.call(
                call, .number(made), .bytes(address), .number(address.count))
        }
        return [
            (
                "use sockets of other programs that have a path, such as the session bus",
                [try uses(SYS_connect, unix(Array(path.utf8) + [0]))]
            ),
            ("use abstract sockets", [try uses(SYS_connect, abstract)]),
            (
                "connect to any address and port, also to this machine",
                [try uses(SYS_connect, loopback), try uses(SYS_connect, loopback, 2)]
            ),
            ("listen on a port of TCP", [try uses(SYS_bind, anyPort)]),
            ("receive on a port of UDP", [try uses(SYS_bind, anyPort, 2)]),
            (
                "make sockets with a path in folders of the user",
                [try uses(SYS_bind, unix(Array(home.file("s").utf8) + [0]))]
            ),
        ]
    }

    /// Calls for root, and parts of the kernel that few programs need. They are given nothing with which they could do harm.
    private func system(_ inside: TakenOverProcess) throws -> [Row] {
        func call(_ numbers: Int32..., first: Int = 0) throws -> [Int] {
            try numbers.map { try inside.call($0, .number(first), 0, 0, 0, 0, 0) }
        }
        return [
            (
                "send raw packets, use other kinds of sockets",
                try [AF_INET, AF_PACKET, 38, 40].map {
                    try inside.call(SYS_socket, .number(Int($0)), 3, 0)
                }
            ),
            (
                "make namespaces, mount, change the root",
                try call(SYS_unshare, first: 0x1000_0000)
                    + call(
                        SYS_setns, SYS_mount, SYS_umount2, SYS_pivot_root, SYS_chroot,
                        SYS_open_tree, SYS_fsopen)
            ),
            (
                "use io_uring, bpf, perf, userfaultfd, keyrings, fanotify",
                try call(
                    SYS_io_uring_setup, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_keyctl,
                    SYS_add_key, SYS_fanotify_init)
            ),
            (
                "share memory or queues by System V and POSIX",
                try call(SYS_shmget, SYS_semget, SYS_msgget, SYS_mq_open)
            ),
            (
                "change the user, the clock, the host's name, modules, devices",
                try call(SYS_setresuid, SYS_setresgid, first: -1)
                    + call(
                        SYS_clock_settime, SYS_settimeofday, SYS_sethostname, SYS_init_module,
                        SYS_kexec_load, SYS_reboot, SYS_swapon, SYS_acct, SYS_syslog, SYS_iopl)
                    + [try inside.call(SYS_mknodat, Self.here, "/dev/shm/x", 0o20600, 0x103)]
            ),
            (
                "type on a terminal of others",
                [try inside.call(SYS_ioctl, 0, .number(Int(TIOCSTI)), inside.address)]
            ),
        ]
    }
}
