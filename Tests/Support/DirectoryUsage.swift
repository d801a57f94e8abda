import Glibc

/// The disk space used by the entries and partials of a cache directory, measured from outside as du(1)
/// does.
public struct DirectoryUsage: Sendable, Hashable {
    /// Bytes of their blocks, including those of attributes. stat(2), `st_blocks`.
    public private(set) var bytes = 0
    public private(set) var entries = 0
    public private(set) var partials = 0

    /// Adds up the files. A file that appears or disappears during the count can be counted or not.
    public init(of directory: String) throws {
        guard let stream = opendir(directory) else {
            throw TestFailure.syscall("opendir", directory)
        }
        defer { closedir(stream) }
        var inodes: Set<ino_t> = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            var status = stat()
            guard name.utf8.count == 36 || name.hasSuffix(".part"),
                fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0
            else { continue }
            // A file with several names counts once.
            if inodes.insert(status.st_ino).inserted { bytes += Int(status.st_blocks) * 512 }
            if name.hasSuffix(".part") { partials += 1 }
            if name.utf8.count == 36 { entries += 1 }
        }
    }

    /// Measures the directory at one moment. Returns `nil` if a name appeared, disappeared or changed during the
    /// count, because the sum might never have been true. Relies on fine-grained time stamps: Linux 6.13 or later.
    public init?(momentOf directory: String) throws {
        let before = try Self.changeTime(of: directory)
        try self.init(of: directory)
        guard try Self.changeTime(of: directory) == before else { return nil }
    }

    /// The time of the last change as seconds and nanoseconds. stat(2), `st_ctim`.
    private static func changeTime(of path: String) throws -> [Int] {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw TestFailure.syscall("lstat", path) }
        return [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
