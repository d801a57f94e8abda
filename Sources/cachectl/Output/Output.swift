import CacheWire
import Glibc

/// Standard output, written in large pieces; ``flush()`` must follow the last line.
struct Output {
    private var bytes: [UInt8] = []

    /// So many bytes are gathered before they are written.
    private static let piece = 64 << 10

    /// One line for people or programs.
    mutating func line(_ text: String) throws {
        bytes += text.utf8
        try endLine()
    }

    /// Text as it is.
    mutating func text(_ text: String) {
        bytes += text.utf8
    }

    /// One line of JSON.
    mutating func json(_ value: some Encodable) throws {
        bytes += try Message.json(value)
        try endLine()
    }

    private mutating func endLine() throws {
        bytes.append(UInt8(ascii: "\n"))
        if bytes.count >= Self.piece {
            try flush()
        }
    }

    /// Writes what was gathered, or throws ``BrokenPipe``.
    mutating func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        switch bytes.withUnsafeBytes({ StandardStream.output.write($0) }) {
        case nil: break
        case EPIPE: throw BrokenPipe()
        case let number?:
            throw CommandFailure(
                status: .inputOutput,
                message: "cannot write the output: \(String(cString: strerror(number)))")
        }
    }
}
