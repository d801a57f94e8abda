import Glibc

/// What the disk holds for the entries and partials of a cache directory, measured from outside as
/// du(1) does.
public struct DirectoryUsage: Sendable, Hashable {
    /// Bytes of their blocks, those of attributes included. stat(2), `st_blocks`.
    public private(set) var bytes = 0
    public private(set) var entries = 0
    public private(set) var partials = 0

    /// Adds up what lies there. What comes or goes meanwhile is counted or not.
    public init(of directory: String) throws {
        guard let stream = opendir(directory) else {
            throw TestFailure.syscall("opendir", directory)
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            var status = stat()
            guard name.utf8.count == 36 || name.hasSuffix(".part"),
                fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) == 0
            else { continue }
            bytes += Int(status.st_blocks) * 512
            if name.hasSuffix(".part") { partials += 1 } else { entries += 1 }
        }
    }

    /// The same at one moment; `nil` if a name came, went or changed while it was read, so that the
    /// sum may never have been true. Relies on fine time stamps: Linux 6.13 or later.
    public init?(momentOf directory: String) throws {
        let before = try Self.changeTime(of: directory)
        try self.init(of: directory)
        guard try Self.changeTime(of: directory) == before else { return nil }
    }

    /// Seconds and nanoseconds. stat(2), `st_ctim`.
    private static func changeTime(of path: String) throws -> [Int] {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw TestFailure.syscall("lstat", path) }
        return [status.st_ctim.tv_sec, status.st_ctim.tv_nsec]
    }
}
