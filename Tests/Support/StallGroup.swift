import Foundation
import Glibc

/// A control group that is really short of memory: it has 48 MiB, and processes in it read
/// a file of 64 MiB.
///
/// Uses no memory of the rest of the machine. Needs root, the memory controller of version 1 and a
/// version 2 tree beside it, as a hybrid system mounts them.
public struct StallGroup: Sendable {
    private static let memoryTree = "/sys/fs/cgroup/memory"
    private static let tree = "/sys/fs/cgroup/unified"

    /// The reason why this machine can't provide one; `nil` if it can.
    public static var obstacle: String? {
        if geteuid() != 0 { return "only root can create control groups" }
        if access("\(memoryTree)/memory.limit_in_bytes", W_OK) != 0 {
            return "no memory controller of version 1 is mounted"
        }
        return access("\(tree)/memory.pressure", R_OK) == 0
            ? nil : "no version 2 tree with pressure statistics is mounted beside it"
    }

    private let scope: TestScope
    private let limited: String
    private let group: String
    private let file: String

    /// The pressure statistics of the group.
    public var pressure: PressureFile { PressureFile(path: "\(group)/memory.pressure") }

    /// The bytes of memory that the group has.
    private static let limit = 48 << 20

    /// The command that starts a program in the group. The program and its arguments are to follow.
    public var launcher: [String] { ["sh", "-c", #"\#(entering) && exec "$@""#, "sh"] }

    public init(in scope: TestScope) throws {
        self.scope = scope
        let name = "cached-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        limited = "\(Self.memoryTree)/\(name)"
        group = "\(Self.tree)/\(name)"
        let directory = try TemporaryDirectory(in: scope)
        file = directory.file("large")
        try Self.make(limited, in: scope)
        try Self.make(group, in: scope)
        try Self.write("\(Self.limit)", to: "\(limited)/memory.limit_in_bytes")
        try Self.fill(file)
    }

    /// Reads the file in three processes at once, until `end()` is called or for a minute. Returns once
    /// the kernel has counted a stall of 200 ms, the threshold of a warning.
    ///
    /// Polls ten times a second. Each read makes the kernel round the time waited since the last read to
    /// whole clock ticks (kernel/sched/psi.c, collect_percpu_times), so continuous polling loses time.
    public func stall() async throws {
        let before = try pressure.waited()
        // Without `--foreground`, the readers would leave the process group that ends with the scope.
        let reader = "timeout --foreground 60 sh -c 'while :; do cat \(file) >/dev/null; done'"
        _ = try await run("\(reader) & \(reader) & \(reader) & wait")
        try await waitUntil("a stall") {
            _ = try await offPool { poll(nil, 0, 100) }
            return try pressure.waited() - before >= .milliseconds(200)
        }
    }

    /// Reads the file once, which causes a stall of a few milliseconds.
    public func stallBriefly() async throws {
        try await run("cat \(file) >/dev/null").waitForExit()
    }

    /// Charges the future memory of a running program to the memory controller's group.
    public func charge(_ process: ChildProcess) throws {
        try Self.write("\(process.pid)", to: "\(limited)/cgroup.procs")
    }

    /// Bytes of files in memory (tmpfs) that are charged to the group. memory.stat, `shmem`:
    /// Documentation/admin-guide/cgroup-v1/memory.rst
    public func chargedFiles() throws -> Int { try statistic("shmem") }

    private func statistic(_ name: String) throws -> Int {
        let text = String(decoding: try contents(of: "\(limited)/memory.stat"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        guard let count = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw TestFailure("\(limited)/memory.stat holds \(text)")
        }
        return count
    }

    /// Kills all processes in the group. cgroup.kill: cgroups(7)
    public func end() throws {
        try Self.end(group)
    }

    /// Runs a shell script in the group; returns once the process has entered the group.
    private func run(_ script: String) async throws -> ChildProcess {
        let child = try ChildProcess(
            "sh", ["-c", "\(entering) && echo entered && { \(script); }"], in: scope)
        try await child.waitForLine(containing: "entered", on: .standardOutput)
        return child
    }

    /// The beginning of a shell script by which its shell enters both trees.
    private var entering: String {
        "echo $$ >\(limited)/cgroup.procs && echo $$ >\(group)/cgroup.procs"
    }

    // MARK: The kernel's files

    /// mkdir(2); when the scope ends, rmdir(2).
    private static func make(_ path: String, in scope: TestScope) throws {
        guard mkdir(path, 0o755) == 0 else { throw TestFailure("mkdir \(path): error \(errno)") }
        scope.atEnd { try remove(path) }
    }

    /// A process leaves its group a moment after it ends, and version 1 sends no event for that.
    private static func remove(_ path: String) throws {
        try end(path)
        let deadline = ContinuousClock.now + .seconds(5)
        while rmdir(path) != 0 {
            guard errno == EBUSY, ContinuousClock.now < deadline else {
                throw TestFailure("rmdir \(path): error \(errno)")
            }
            poll(nil, 0, 5)
        }
    }

    private static func end(_ path: String) throws {
        let file = "\(path)/cgroup.kill"
        if access(file, W_OK) == 0 { try write("1", to: file) }
    }

    private static func write(_ text: String, to path: String) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: Array(text.utf8))
        try handle.close()
    }

    /// Creates the file and drops its pages. Otherwise they stay charged to this process, and a reader of
    /// the file never waits. posix_fadvise(2).
    private static func fill(_ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        for _ in 0..<64 { try handle.write(contentsOf: piece) }
        try handle.synchronize()
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
        try handle.close()
    }
}
