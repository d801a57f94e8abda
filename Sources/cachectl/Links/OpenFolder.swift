import CLinux
import Glibc

/// An open folder. Names in it are looked up without following a link.
final class OpenFolder {
    let descriptor: Int32

    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Opens a folder at a path, also through links; `nil` with errno. open(2).
    convenience init?(at path: String) {
        let descriptor = open(path, Self.flags)
        guard descriptor >= 0 else { return nil }
        self.init(descriptor)
    }

    deinit {
        close(descriptor)
    }

    /// Opens a folder in this one; `nil` with errno, also if the name is a link. openat(2).
    func folder(_ name: String) -> OpenFolder? {
        let descriptor = openat(descriptor, name, Self.flags | O_NOFOLLOW)
        return descriptor >= 0 ? OpenFolder(descriptor) : nil
    }

    /// The target of a link; `nil` if the name is no link. readlinkat(2).
    func target(of name: String) -> String? {
        withUnsafeTemporaryAllocation(byteCount: Int(PATH_MAX), alignment: 1) { room in
            let start = room.assumingMemoryBound(to: CChar.self).baseAddress!
            let count = readlinkat(descriptor, name, start, room.count)
            guard count >= 0, count < room.count else { return nil }
            return String(decoding: room[..<count], as: UTF8.self)
        }
    }

    /// Whether a link leads to an existing file. fstatat(2).
    func leadsSomewhere(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, 0) == 0 || errno != ENOENT
    }

    /// Calls `body` with each name that is valid UTF-8, and with its type (`DT_LNK`, `DT_DIR`, …). readdir(3).
    func each(_ body: (String, Int32) throws -> Void) throws {
        let copy = openat(descriptor, ".", Self.flags)
        guard copy >= 0, let stream = fdopendir(copy) else {
            throw CommandFailure.system("read a folder of links")
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) {
                    String(validatingCString: $0)
                }
            }
            guard let name, name != ".", name != ".." else { continue }
            try body(name, Int32(entry.pointee.d_type))
        }
    }
}
