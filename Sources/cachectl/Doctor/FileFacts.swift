import CLinux
import Glibc

/// The facts about a file from stat(2).
struct FileFacts: Hashable {
    let mode: UInt32
    let user: UInt32
    let group: UInt32
    /// When the bytes changed and when they were last read, as Unix seconds.
    let modifiedAt, readAt: Int

    var isDirectory: Bool { mode & S_IFMT == S_IFDIR }
    /// The permissions in octal: `755`.
    var permissions: String { String(mode & 0o7777, radix: 8) }

    /// `nil` with errno. stat(2).
    init?(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// A name in a folder, links not followed; `nil` with errno. fstatat(2).
    init?(_ name: String, in folder: OpenFolder) {
        var status = stat()
        guard fstatat(folder.descriptor, name, &status, Int32(AT_SYMLINK_NOFOLLOW)) == 0 else {
            return nil
        }
        self.init(status)
    }

    private init(_ status: stat) {
        (mode, user, group) = (status.st_mode, status.st_uid, status.st_gid)
        (modifiedAt, readAt) = (status.st_mtim.tv_sec, status.st_atim.tv_sec)
    }
}
