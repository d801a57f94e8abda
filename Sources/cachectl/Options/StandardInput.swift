import Glibc

/// Reads URLs from standard input, one a line.
enum StandardInput {
    /// Appends all lines that are not empty. read(2).
    static func append(to urls: inout URLList) throws {
        try append(linesOf: try FileBytes.read(STDIN_FILENO, name: "standard input"), to: &urls)
    }

    /// Appends the lines of `bytes` that are not empty.
    static func append(linesOf bytes: [UInt8], to urls: inout URLList) throws {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() where !line.isEmpty {
            try urls.append(line: line, number: index + 1)
        }
    }
}
