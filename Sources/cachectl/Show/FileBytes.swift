import Glibc

/// Reads whole files.
enum FileBytes {
    /// Returns the bytes of a file. open(2), read(2).
    static func read(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure("open", path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Glibc.read(descriptor, &room, room.count)
            if count > 0 {
                bytes += room[..<count]
            } else if count == 0 {
                return bytes
            } else if errno != EINTR {
                throw failure("read", path)
            }
        }
    }

    private static func failure(_ action: String, _ path: String) -> CommandFailure {
        CommandFailure(
            status: .inputOutput,
            message: "cannot \(action) \(path): \(String(cString: strerror(errno)))")
    }
}
