import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching

/// A file of a cache directory and its attributes, read without a daemon. Looking at it is no use of the image.
struct StoredFile {
    let path: String
    let name: DirectoryName
    /// Bytes of the file.
    let size: Int64
    /// The number of its names. Images with equal bytes share a file.
    let links: Int
    /// When the file was last read, as the order of use knows it.
    let lastUsedAt: UnixTime
    /// When the bytes were last written, or confirmed by the origin.
    let confirmedAt: UnixTime

    /// - Parameter path: a path whose last component is a name of the cache.
    init(path: String) throws(CommandFailure) {
        guard let name = Self.name(in: path) else {
            throw .unreadable(
                path,
                "the name of a cached image has 36 characters, then .part or nothing")
        }
        let status = try Self.status(of: path)
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unreadable(path, "it is not a regular file")
        }
        (self.path, self.name, size) = (path, name, Int64(status.st_size))
        links = Int(status.st_nlink)
        lastUsedAt = UnixTime(clamping: Int64(status.st_atim.tv_sec))
        confirmedAt = UnixTime(clamping: Int64(status.st_mtim.tv_sec))
    }

    /// Whether an argument is a path or a key rather than a URL: it has a slash but no scheme, or it is a name of the
    /// cache.
    static func isPath(_ argument: String) -> Bool {
        guard !argument.contains("://") else { return false }
        return argument.contains("/") || name(in: argument) != nil
    }

    private static func name(in path: String) -> DirectoryName? {
        let start = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) }
        return Array(path.utf8[(start ?? path.startIndex)...]).withUnsafeBytes {
            DirectoryName($0)
        }
    }

    /// lstat(2).
    private static func status(of path: String) throws(CommandFailure) -> stat {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            throw .unreadable(
                path, String(cString: strerror(errno)),
                status: errno == ENOENT ? .incomplete : .inputOutput)
        }
        return status
    }

    /// Whether its inode has changed in the last three seconds.
    func changedRecently() throws(CommandFailure) -> Bool {
        // A clock that was set back makes no change recent for longer.
        abs(time(nil) - (try Self.status(of: path).st_ctim.tv_sec)) <= 3
    }

    /// The value of an attribute; `nil` if there is none. lgetxattr(2).
    func attribute(_ name: String) throws(CommandFailure) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: EntryAttributes.maximumLength)
        let count = lgetxattr(path, name, &bytes, bytes.count)
        if count >= 0 { return Array(bytes[..<count]) }
        guard errno == ENODATA || errno == ENOTSUP else {
            throw .unreadable(path, String(cString: strerror(errno)), status: .inputOutput)
        }
        return nil
    }

    /// The same as text.
    func text(_ name: String) throws(CommandFailure) -> String? {
        try attribute(name).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension CommandFailure {
    /// A file without a record that can be shown.
    static func unreadable(
        _ path: String, _ reason: String, status: ExitStatus = .incomplete
    ) -> CommandFailure {
        CommandFailure(status: status, message: "\(path): \(reason)")
    }
}
