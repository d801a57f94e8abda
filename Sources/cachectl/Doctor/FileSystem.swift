import Glibc

/// The file system that a path is on.
struct FileSystem: Hashable {
    /// For example `ext4`.
    let type: String
    let mountPoint: String

    /// File systems on which changes by other machines or programs are not reported. inotify(7).
    private static let shared: Set<String> = [
        "9p", "afs", "ceph", "cifs", "fuse", "gfs2", "lustre", "nfs", "nfs4", "ocfs2", "smb3",
    ]

    var isShared: Bool { Self.shared.contains(String(type.prefix { $0 != "." })) }
    var isInMemory: Bool { type == "tmpfs" || type == "ramfs" }

    /// - Parameters:
    ///   - path: an absolute path without links.
    ///   - table: the lines of /proc/self/mountinfo. proc_pid_mountinfo(5).
    init?(of path: String, in table: String) {
        var found: FileSystem?
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard let dash = fields.firstIndex(of: "-"), fields.count > dash + 1, fields.count > 4
            else { continue }
            let point = Self.unescaped(fields[4])
            let isAbove = path == point || path.hasPrefix(point == "/" ? "/" : point + "/")
            // A later mount hides an earlier one at the same place.
            if isAbove, point.utf8.count >= found?.mountPoint.utf8.count ?? 0 {
                found = FileSystem(type: String(fields[dash + 1]), mountPoint: point)
            }
        }
        guard let found else { return nil }
        self = found
    }

    private init(type: String, mountPoint: String) {
        (self.type, self.mountPoint) = (type, mountPoint)
    }

    /// The file system of a path on this machine. realpath(3).
    init?(of path: String) {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        guard let table = try? FileBytes.read("/proc/self/mountinfo") else { return nil }
        self.init(of: String(cString: resolved), in: String(decoding: table, as: UTF8.self))
    }

    /// Blanks and backslashes are written as octal escapes.
    private static func unescaped(_ field: Substring) -> String {
        [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
            .reduce(String(field)) { $0.replacing($1.0, with: $1.1) }
    }
}
