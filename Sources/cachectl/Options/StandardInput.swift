import Glibc

/// Standard input as lines.
enum StandardInput {
    /// All lines that are not empty. read(2).
    static func lines() throws -> [String] {
        try lines(in: readAll(STDIN_FILENO))
    }

    /// The lines of `bytes` that are not empty. Names are computed from bytes, so that a line which
    /// is not UTF-8 cannot be repaired, only refused.
    static func lines(in bytes: [UInt8]) throws -> [String] {
        try bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .enumerated()
            .filter { !$0.element.isEmpty }
            .map { index, line in
                guard let text = String(validating: line, as: UTF8.self) else {
                    throw CommandFailure(
                        status: .invalidURL,
                        message: "line \(index + 1) of standard input is not UTF-8")
                }
                return text
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
            } else if errno != EINTR {
                throw CommandFailure(
                    status: .inputOutput,
                    message: "cannot read standard input: \(String(cString: strerror(errno)))")
            }
        }
    }
}
