import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// Files that have no name before they are entries: for images that are there as a whole. To make one and
/// name it costs less than to rename it, and nothing is left of it when the daemon is killed.
extension CacheDirectory {
    /// The file of an image that is there as a whole; its partial where there can be none without a name. Who
    /// may read it is to be seen to, once it is written.
    func stageWhole(
        _ key: CacheKey, makeRoom: () -> Bool = { false }
    ) throws(Errno) -> StagingFile {
        guard makesUnnamedFiles else { return try stage(key, makeRoom: makeRoom) }
        let made = try kernel.storing(makeRoom) { () throws(Errno) in
            try kernel.makeUnnamed(in: descriptor, mode: 0o644)
        }
        return StagingFile(key: key, descriptor: made, isNamed: false, kernel: kernel)
    }

    /// Whether files may be without a name at first: somebody may forbid it, and after a power cut some file
    /// systems would have the name without the file.
    static func makesUnnamedFiles(
        _ directory: Int32, on device: dev_t, _ kernel: Kernel
    ) -> Bool {
        do {
            try nameLater(directory, kernel)
            return try namesAreDurableWithFiles(directory, on: device, kernel)
        } catch {
            return false
        }
    }

    /// Tries it, under the name of a partial nobody has: it takes a file system that can do it, a /proc, and
    /// leave. open(2), `O_TMPFILE`.
    private static func nameLater(_ directory: Int32, _ kernel: Kernel) throws(Errno) {
        let name = partialName(of: CacheKey(high: 0x5000, low: 1 << 63))
        let file = try kernel.makeUnnamed(in: directory, mode: 0o644)
        defer { close(file) }
        do {
            try kernel.link(file, to: name, in: directory)
        } catch .fileExists {
            // Left by one that was killed.
            try kernel.unlink(name, in: directory)
            try kernel.link(file, to: name, in: directory)
        }
        try kernel.unlink(name, in: directory)
    }

    /// Whether the sync of a directory is enough for a file that was synced while it had no name: that it is
    /// linked is part of both, and one journal has both. btrfs does not log a file without a name, and then
    /// only that it exists, not its bytes; without a journal its inode is still that of a deleted file.
    private static func namesAreDurableWithFiles(
        _ directory: Int32, on device: dev_t, _ kernel: Kernel
    ) throws(Errno) -> Bool {
        switch FileSystemType(try kernel.fileSystem(of: directory)) {
        case .ext4: isJournaled(device)
        // XFS always has a journal; what is in memory survives no power cut.
        case .xfs, .tmpfs: true
        default: false
        }
    }

    /// Whether a device has an ext4 with a journal; `false` where the kernel does not say. sysfs(5)
    private static func isJournaled(_ device: dev_t) -> Bool {
        let link = "/sys/dev/block/\(gnu_dev_major(device)):\(gnu_dev_minor(device))"
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink(link, &target, target.count - 1)
        guard length > 0 else { return false }
        let path = String(decoding: target[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self)
        let name = path.split(separator: "/").last ?? ""
        guard let task = ProcFile.text(of: "/sys/fs/ext4/\(name)/journal_task") else {
            return false
        }
        return task.first?.isNumber == true
    }
}
