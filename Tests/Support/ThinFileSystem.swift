import Foundation
import Glibc

/// An ext4 that loses much of what is written to files from a moment on: it takes it, and the store below has
/// no room for it. Use files of one block: of a longer piece loop(4) may keep a part and say that all is well.
///
///     let disk = try await ThinFileSystem(bytes: 16 << 20, in: scope)
///     …
///     try await disk.loseWrites()
public struct ThinFileSystem: Sendable {
    /// Where it is mounted; gone when the scope ends.
    public let path: String
    private let store: SmallFileSystem

    /// Makes and mounts one. Attributes have room in the inodes, so that files need no other new blocks than
    /// those of their bytes. mkfs.ext4(8), mount(8)
    public init(bytes: Int, in scope: TestScope) async throws {
        store = try await SmallFileSystem(bytes: bytes + 1 << 20, in: scope)
        path = try TemporaryDirectory(in: scope).directory("mounted")
        let image = store.path + "/image"
        try await runSuccessfully(
            "mkfs.ext4",
            [
                "-q", "-F", "-b", "4096", "-I", "1024", "-N", "512", "-E",
                "nodiscard,lazy_itable_init=0,lazy_journal_init=0", image, "\(bytes >> 10)k",
            ])
        // mkfs leaves holes where it means zeros.
        try await runSuccessfully("fallocate", ["-l", "\(bytes)", image])
        let path = path
        try await runSuccessfully(
            "mount", ["-t", "ext4", "-o", "loop,errors=continue", image, path])
        scope.atEnd { try await runSuccessfully("umount", ["--lazy", path]) }
        // Nor are pieces of several files to be put together.
        let device = try await runSuccessfully(
            "findmnt", ["--noheadings", "--output=SOURCE", path])
        let name = device.split(separator: "/").last.map { $0.filter { !$0.isWhitespace } } ?? ""
        try Data("2".utf8).write(to: URL(filePath: "/sys/block/\(name)/queue/nomerges"))
    }

    /// From now on nothing that is written to a new place is kept, and only a sync can tell. fstrim(8)
    public func loseWrites() async throws {
        try await runSuccessfully("sync", ["-f", path])
        // Gives what is free back to the store …
        try await runSuccessfully("fstrim", [path])
        // … which has it no longer.
        let file = open(store.path + "/other", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw TestFailure.syscall("open", store.path) }
        defer { close(file) }
        let bytes = [UInt8](repeating: 0x55, count: 1 << 16)
        for count in [bytes.count, 4096] { while write(file, bytes, count) > 0 {} }
    }
}
