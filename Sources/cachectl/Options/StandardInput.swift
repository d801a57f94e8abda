import Glibc

/// Reads URLs from standard input, one a line.
enum StandardInput {
    /// Appends all lines that are not empty. read(2).
    static func append(to urls: inout URLList) throws {
        append(linesOf: try readAll(STDIN_FILENO), to: &urls)
    }

    /// Appends the lines of `bytes` that are not empty.
    static func append(linesOf bytes: [UInt8], to urls: inout URLList) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            urls.append(line: line, number: index + 1)
        }
    }

    private static func readAll(_ descriptor: Int32) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(descriptor, &room, room.count)
            if count > 0 {
                bytes += room[..<count]
            } else if count == 0 {
                return bytes
            } else if errno == EAGAIN {
                waitUntilReady(descriptor, for: POLLIN)
            } else if errno != EINTR {
                throw CommandFailure(
                    status: .inputOutput,
                    message: "cannot read standard input: \(String(cString: strerror(errno)))")
            }
        }
    }
}
