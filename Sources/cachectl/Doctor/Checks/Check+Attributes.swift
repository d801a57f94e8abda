import CLinux
import Glibc

extension Check {
    /// Whether files can have extended attributes, in which the cache keeps its records. xattr(7).
    static let attributes = Check("attributes") { examination in
        guard let path = examination.directory, let folder = OpenFolder(at: path) else { return [] }
        let problem = attributeProblem(path)
        guard problem != 0 else { return [.ok("files can have extended attributes")] }
        let system = FileSystem(of: path)?.type ?? "its file system"
        return [
            .wrong(
                "files in \(path) cannot have extended attributes (\(system): "
                    + "\(String(cString: strerror(problem)))): images are never revalidated",
                fix: "name a directory on ext4, XFS, Btrfs or ZFS with --directory")
        ]
    }

    /// The errno of setting an attribute of a file without a name; 0 if it works. If this user may not write there,
    /// or the file system has no such files, that of looking for one. fsetxattr(2), lgetxattr(2), `O_TMPFILE` in
    /// open(2).
    private static func attributeProblem(_ path: String) -> Int32 {
        let file = open(path, clinux_o_tmpfile | O_RDWR | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            let isKnown = lgetxattr(path, attribute, nil, 0) >= 0 || errno == ENODATA
            return isKnown ? 0 : errno
        }
        defer { close(file) }
        return fsetxattr(file, attribute, "1", 1, 0) == 0 ? 0 : errno
    }

    private static let attribute = "user.cached.doctor"
}
