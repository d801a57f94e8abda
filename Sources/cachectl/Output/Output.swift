import CacheWire
import Glibc

/// Buffered standard output. Call ``flush()`` after the last line.
struct Output {
    private var bytes: [UInt8] = []

    /// The buffer is written when it holds this many bytes.
    private static let piece = 64 << 10

    /// Appends one line.
    mutating func line(_ text: String) throws {
        bytes += text.utf8
        try endLine()
    }

    /// Appends text without a line break.
    mutating func text(_ text: String) {
        bytes += text.utf8
    }

    /// Appends one line of JSON.
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

    /// Writes the buffer. Throws ``BrokenPipe`` if the reader has closed standard output.
    mutating func flush() throws {
        defer { bytes.removeAll(keepingCapacity: true) }
        switch bytes.withUnsafeBytes({ StandardStream.output.write($0) }) {
        case nil: break
        case EPIPE: throw BrokenPipe()
        case let number?:
            throw CommandFailure(
                status: .inputOutput,
                message: "cannot write standard output: \(String(cString: strerror(number)))")
        }
    }
}
