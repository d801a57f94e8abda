import Foundation
import Glibc

/// A tmpfs of the test's own, which can be filled without harm. tmpfs(5)
public struct SmallFileSystem: Sendable {
    /// The capability to mount. capabilities(7), `CAP_SYS_ADMIN`
    private static let mountingBit: UInt64 = 1 << 21

    /// The reason why this machine can't provide one; `nil` if it can.
    public static var obstacle: String? {
        let status = (try? contents(of: "/proc/self/status")) ?? []
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        let mask = lines.first { $0.hasPrefix("CapEff:") }?.split(separator: "\t").last
        let capabilities = mask.flatMap { UInt64($0, radix: 16) } ?? 0
        return capabilities & mountingBit == 0 ? "this user may not mount file systems" : nil
    }

    /// The mount point; unmounted when the scope ends.
    public let path: String

    /// Mounts one with `bytes` of space. mount(8)
    public init(bytes: Int, in scope: TestScope) async throws {
        self = try await Self(bytes: bytes, over: TemporaryDirectory(in: scope).path)
        scope.atEnd(remove)
    }

    /// Mounts one over an existing directory, until it is removed.
    public init(bytes: Int, over path: String) async throws {
        try await runSuccessfully(
            "mount", ["-t", "tmpfs", "-o", "size=\(bytes),mode=700", "tmpfs", path])
        self.path = path
    }

    /// Unmounts it, even if a process has files of it open. umount(8)
    public func remove() async throws {
        try await runSuccessfully("umount", ["--lazy", path])
    }

    /// Its size and free space, in bytes. statvfs(3)
    public func space() throws -> (size: Int, free: Int) {
        try Self.space(at: path)
    }

    /// The size and free space of the file system that a path is on.
    public static func space(at path: String) throws -> (size: Int, free: Int) {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0 else { throw TestFailure.syscall("statvfs", path) }
        let block = Int(facts.f_frsize)
        return (Int(facts.f_blocks) * block, Int(facts.f_bavail) * block)
    }
}
