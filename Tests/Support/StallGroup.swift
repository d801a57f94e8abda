import Foundation
import Glibc

/// A control group in which memory is really short: 48 MiB, read through by a file of 64 MiB.
///
/// Costs the rest of the machine no memory. Needs root, the memory controller of version 1 and a tree
/// of version 2, as a hybrid system mounts them.
public struct StallGroup: Sendable {
    private static let memoryTree = "/sys/fs/cgroup/memory"
    private static let tree = "/sys/fs/cgroup/unified"

    /// Why there can be none here; `nil` if there can.
    public static var obstacle: String? {
        if geteuid() != 0 { return "only root may make control groups" }
        if access("\(memoryTree)/memory.limit_in_bytes", W_OK) != 0 {
            return "no memory controller of version 1 is mounted"
        }
        return access("\(tree)/memory.pressure", R_OK) == 0
            ? nil : "no tree of version 2 with pressure figures is mounted beside it"
    }

    private let scope: TestScope
    private let limited: String
    private let group: String
    private let file: String

    /// The figures of the group.
    public var pressure: PressureFile { PressureFile(path: "\(group)/memory.pressure") }

    public init(in scope: TestScope) throws {
        self.scope = scope
        let name = "cached-test-\(getpid())-\(UInt32.random(in: 0 ... .max))"
        limited = "\(Self.memoryTree)/\(name)"
        group = "\(Self.tree)/\(name)"
        let directory = try TemporaryDirectory(in: scope)
        file = directory.file("large")
        try Self.make(limited, in: scope)
        try Self.make(group, in: scope)
        try Self.write("\(48 << 20)", to: "\(limited)/memory.limit_in_bytes")
        try Self.fill(file)
    }

    /// Reads the file in three processes at once, until `end` or for so long that there is enough of a stall
    /// anyhow; returns once the kernel has counted 200 ms of it, as a warning asks for.
    ///
    /// Looks ten times a second: each look makes the kernel weigh what was waited since the last one by whole
    /// ticks of its clock (kernel/sched/psi.c, collect_percpu_times), so that looks without a pause lose it.
    public func stall() async throws {
        let before = try pressure.waited()
        let reader = "timeout 60 sh -c 'while :; do cat \(file) >/dev/null; done'"
        _ = try await run("\(reader) & \(reader) & \(reader) & wait")
        try await waitUntil("a stall") {
            _ = try await offPool { poll(nil, 0, 100) }
            return try pressure.waited() - before >= .milliseconds(200)
        }
    }

    /// Reads the file once, which costs a few milliseconds of waiting.
    public func stallBriefly() async throws {
        try await run("cat \(file) >/dev/null").waitForExit()
    }

    /// What a running program takes from now on is charged to the memory controller's group.
    public func charge(_ process: ChildProcess) throws {
        try Self.write("\(process.pid)", to: "\(limited)/cgroup.procs")
    }

    /// Bytes of files in memory (tmpfs) that are charged to the group. memory.stat, `shmem`:
    /// Documentation/admin-guide/cgroup-v1/memory.rst
    public func chargedFiles() throws -> Int {
        let text = String(decoding: try contents(of: "\(limited)/memory.stat"), as: UTF8.self)
        let line = text.split(separator: "\n").first { $0.hasPrefix("shmem ") }
        guard let count = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw TestFailure("\(limited)/memory.stat holds \(text)")
        }
        return count
    }

    /// Ends all processes in here. cgroup.kill: cgroups(7)
    public func end() throws {
        try Self.end(group)
    }

    /// Runs a shell script in here; returns when it is about to do its work.
    private func run(_ script: String) async throws -> ChildProcess {
        let enter = "echo $$ >\(limited)/cgroup.procs && echo $$ >\(group)/cgroup.procs"
        let child = try ChildProcess(
            "sh", ["-c", "\(enter) && echo entered && { \(script); }"], in: scope)
        try await child.waitForLine(containing: "entered", on: .standardOutput)
        return child
    }

    // MARK: The kernel's files

    /// mkdir(2); when the scope ends, rmdir(2).
    private static func make(_ path: String, in scope: TestScope) throws {
        guard mkdir(path, 0o755) == 0 else { throw TestFailure("mkdir \(path): error \(errno)") }
        scope.atEnd { try remove(path) }
    }

    /// Those that end leave their group a moment later, which no event tells for version 1.
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

    /// Makes the file and drops its pages: otherwise they stay charged to this process, and whoever
    /// reads the file waits for nothing. posix_fadvise(2).
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
