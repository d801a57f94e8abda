import Foundation
import Glibc
import TestSupport

/// A small file system of the test's own, and another program that fills it.
struct SmallDisk: Sendable {
    /// The scarce resource.
    enum Kind: String, Sendable, CaseIterable {
        /// 1 MiB of tmpfs.
        case bytes
        /// 20 inodes of tmpfs, which attributes use up too. tmpfs(5)
        case inodes
        /// 2 MiB of ext4, on which attributes take whole blocks.
        case ext4
    }

    let path: String

    /// Throws if this user is not allowed to mount, or there is no loop device.
    init(_ kind: Kind, in scope: TestScope) async throws {
        let home = try TemporaryDirectory(in: scope)
        path = try home.directory("disk")
        switch kind {
        case .bytes:
            try await mount("tmpfs", ["-t", "tmpfs", "-o", "size=1m,nr_inodes=2000"], scope)
        case .inodes:
            try await mount("tmpfs", ["-t", "tmpfs", "-o", "size=16m,nr_inodes=20"], scope)
        case .ext4:
            let image = home.file("image")
            try await runSuccessfully("truncate", ["-s", "2M", image])
            try await runSuccessfully("mkfs.ext4", ["-q", "-F", "-m", "0", image])
            try await mount(image, ["-o", "loop"], scope)
        }
    }

    private func mount(_ what: String, _ options: [String], _ scope: TestScope) async throws {
        let path = path
        try await runSuccessfully("mount", options + [what, path])
        scope.atEnd { try await runSuccessfully("umount", ["--lazy", path]) }
    }

    // MARK: The other program

    /// Uses up all bytes and all inodes that are left.
    func fill() throws {
        try takeBytes()
        for number in 0..<2000 {
            let file = open("\(path)/filler.\(number)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else { break }
            close(file)
        }
        try takeBytes()
    }

    /// open(2), write(2).
    private func takeBytes() throws {
        let file = open("\(path)/filler", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { return }
        defer { close(file) }
        for size in [65_536, 4096, 512, 1] {
            let bytes = [UInt8](repeating: 0x55, count: size)
            while write(file, bytes, size) > 0 {}
        }
    }

    /// Removes the files again.
    func giveBack() throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path)
        where name.hasPrefix("filler") {
            guard unlink("\(path)/\(name)") == 0 else {
                throw TestFailure("\(name) can't be removed")
            }
        }
    }
}
