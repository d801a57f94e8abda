import Glibc

/// Reads files to their ends.
enum FileBytes {
    /// Returns the bytes of a file. open(2).
    static func read(_ path: String) throws -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw CommandFailure.system("open \(path)") }
        defer { close(descriptor) }
        return try read(descriptor, name: path)
    }

    /// Returns the remaining bytes of a descriptor. read(2).
    ///
    /// - Parameters:
    ///   - descriptor: an open file, which may be non-blocking.
    ///   - name: names the file in an error message.
    static func read(_ descriptor: Int32, name: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        try read(descriptor, name: name) { bytes += $0 }
        return bytes
    }

    /// Writes the remaining bytes of a descriptor to standard output. Throws ``BrokenPipe`` if its reader has closed it.
    static func print(_ descriptor: Int32, name: String) throws {
        try read(descriptor, name: name) { try StandardStream.output.print($0) }
    }

    private static func read(
        _ descriptor: Int32, name: String, _ use: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var room = [UInt8](repeating: 0, count: 256 << 10)
        while true {
            let count = Glibc.read(descriptor, &room, room.count)
            if count > 0 {
                try room.withUnsafeBytes { try use(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            } else if count == 0 {
                return
            } else if errno == EAGAIN {
                waitUntilReady(descriptor, for: POLLIN)
            } else if errno != EINTR {
                throw CommandFailure.system("read \(name)")
            }
        }
    }
}
