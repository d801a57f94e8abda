import CLinux
internal import CacheKey
import Glibc
internal import SystemPackage

/// Files without a name, for images that arrive whole. Making such a file and naming it later costs less than a
/// rename, and nothing is left of it if the daemon is killed. open(2), `O_TMPFILE`.
extension CacheDirectory {
    /// A new file for an image that is in memory as a whole. If there can be no file without a name, it is the
    /// image's partial. The caller makes it readable once it is written.
    func stageWhole(
        _ key: CacheKey, makeRoom: () -> Bool = { false }
    ) throws(Errno) -> StagingFile {
        guard makesUnnamedFiles else { return try stage(key, makeRoom: makeRoom) }
        let made = try kernel.storing(makeRoom) { () throws(Errno) in
            try kernel.makeUnnamed(in: descriptor, mode: 0o644)
        }
        return StagingFile(key: key, descriptor: made, isNamed: false, kernel: kernel)
    }

    /// Whether files can be without a name at first. The system can forbid it, and on some file systems a power
    /// cut would leave the name without the bytes.
    static func makesUnnamedFiles(
        _ directory: Int32, on device: dev_t, _ kernel: Kernel
    ) -> Bool {
        do {
            try tryNamingLater(directory, kernel)
            return try namesAreDurableWithFiles(directory, on: device, kernel)
        } catch {
            return false
        }
    }

    /// Makes a file, names it and removes it. That takes a file system that can do it, a mounted /proc, and permission.
    private static func tryNamingLater(_ directory: Int32, _ kernel: Kernel) throws(Errno) {
        let file = try kernel.makeUnnamed(in: directory, mode: 0o644)
        defer { close(file) }
        try linkAsSpare(file, in: directory, kernel)
        try kernel.unlink(spareName, in: directory)
    }

    /// The name of a partial that no image has, for a file that gets its own name in a moment.
    static let spareName = partialName(of: CacheKey(high: 0x5000, low: 1 << 63))

    static func linkAsSpare(
        _ file: Int32, in directory: Int32, _ kernel: Kernel
    ) throws(Errno) {
        do {
            try kernel.link(file, to: spareName, in: directory)
        } catch .fileExists {
            // A daemon that was killed has left it.
            try kernel.unlink(spareName, in: directory)
            try kernel.link(file, to: spareName, in: directory)
        }
    }

    /// Whether the sync of the directory makes the name of a file durable that had none when it was synced. The
    /// link changes both the directory and the file, and a common journal writes both. btrfs does not log a file
    /// without a name; later it logs only that the file exists, not its bytes. Without a journal, the inode on the
    /// disk is still that of a deleted file.
    private static func namesAreDurableWithFiles(
        _ directory: Int32, on device: dev_t, _ kernel: Kernel
    ) throws(Errno) -> Bool {
        switch FileSystemType(try kernel.fileSystem(of: directory)) {
        case .ext4: isJournaled(device)
        // XFS always has a journal. Files in memory survive no power cut anyway.
        case .xfs, .tmpfs: true
        default: false
        }
    }

    /// Whether a device has an ext4 with a journal; `false` if the kernel does not say. sysfs(5)
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
