import Glibc

/// Reads small files as a whole, without Foundation.
enum TextFile {
    /// The lines of a file, without line ends and without empty lines. fopen(3), getline(3).
    static func lines(of path: String) throws -> [String] {
        guard let file = fopen(path, "re") else {
            throw BenchFailure("cannot open \(path)", errno: errno)
        }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        var lines: [String] = []
        while getline(&line, &capacity, file) >= 0, let line {
            let text = String(cString: line)
            let trimmed = text.last == "\n" ? String(text.dropLast()) : text
            if !trimmed.isEmpty { lines.append(trimmed) }
        }
        return lines
    }
}
