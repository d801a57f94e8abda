import Foundation
import Glibc

/// A temporary directory directly under `/tmp`, or in memory. It is removed with its contents when the
/// scope ends.
///
/// Its path is short on purpose: the path of a socket is limited to 107 bytes (unix(7)).
public struct TemporaryDirectory: Sendable {
    /// The absolute path, without a slash at the end.
    public let path: String

    /// Creates the directory, accessible only to the caller. mkdtemp(3).
    public init(in scope: TestScope) throws {
        try self.init(under: "/tmp", in: scope)
    }

    /// Creates the directory on tmpfs, which behaves the same on every machine.
    public init(inMemory scope: TestScope) throws {
        try self.init(under: "/dev/shm", in: scope)
    }

    private init(under parent: String, in scope: TestScope) throws {
        var template = Array("\(parent)/cached.XXXXXX".utf8CString)
        guard let made = mkdtemp(&template) else { throw TestFailure.syscall("mkdtemp") }
        path = String(cString: made)
        let path = path
        scope.atEnd { try Self.remove(path) }
    }

    /// The path of `name` in this directory.
    public func file(_ name: String) -> String {
        "\(path)/\(name)"
    }

    /// Writes a file in this directory and returns its path.
    @discardableResult
    public func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    /// Writes a text file in this directory and returns its path.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        try write(Array(text.utf8), to: name)
    }

    /// Creates a subdirectory and its parents, and returns its path.
    @discardableResult
    public func directory(_ name: String) throws -> String {
        try FileManager.default.createDirectory(
            atPath: file(name), withIntermediateDirectories: true)
        return file(name)
    }

    /// The names of all files in the directory, sorted, including hidden ones.
    public func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// Restores the permissions of directories first, because a test may have removed them.
    private static func remove(_ path: String) throws {
        chmod(path, 0o700)
        let walk = FileManager.default.enumerator(atPath: path)
        while let name = walk?.nextObject() as? String {
            var status = stat()
            let file = "\(path)/\(name)"
            // A link to a directory is not followed: its target does not belong to the test.
            if lstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFDIR { chmod(file, 0o700) }
        }
        try FileManager.default.removeItem(atPath: path)
    }
}

/// Creates a file directly: without a temporary name and without a sync. open(2), write(2).
public func writeFile(_ bytes: [UInt8], to path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw TestFailure.syscall("open", path) }
    defer { close(file) }
    guard write(file, bytes, bytes.count) == bytes.count else {
        throw TestFailure.syscall("write", path)
    }
}

/// The whole content of a file.
public func contents(of path: String) throws -> [UInt8] {
    try Array(Data(contentsOf: URL(fileURLWithPath: path)))
}
