/// A configuration file, in the format that service managers read: lines of `NAME=value`, empty lines, and
/// comments that begin with `#` or `;`. A value can be quoted. systemd.exec(5), `EnvironmentFile=`.
struct ConfigurationFile {
    struct Line {
        let name: String
        let value: String
        /// Counted from 1.
        let number: Int
    }

    let path: String
    /// The lines that set a name. No name occurs twice.
    private(set) var lines: [Line] = []

    /// - Throws: `StartFailure` if the file cannot be read, a line has another format, or two lines set the same name.
    init(_ path: String) throws {
        self.path = path
        var numbers: [String: Int] = [:]
        for (number, text) in zip(1..., try Self.texts(path)) {
            if text.isEmpty || text.hasPrefix("#") || text.hasPrefix(";") { continue }
            guard let match = text.wholeMatch(of: /([A-Z_][A-Z0-9_]*)=(.*)/) else {
                throw StartFailure.configuration(
                    "\(path):\(number): \"\(text)\" is not NAME=value, like CACHED_MAX_BYTES=5G")
            }
            let name = String(match.1)
            if let first = numbers.updateValue(number, forKey: name) {
                throw StartFailure.configuration(
                    "\(path):\(number) sets \(name), which line \(first) sets already; remove one")
            }
            lines.append(
                Line(name: name, value: String(match.2).trimmed.unquoted, number: number))
        }
    }

    private static func texts(_ path: String) throws -> [String] {
        do throws(TextFile.Problem) {
            return try TextFile.lines(of: path).map(\.trimmed)
        } catch {
            throw StartFailure.configuration("the configuration file \(path) \(error)")
        }
    }
}

extension String {
    /// The text without white space at either end.
    var trimmed: String {
        let tail = drop(while: \.isWhitespace)
        guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(tail[...last])
    }

    /// The text without quotation marks around it.
    fileprivate var unquoted: String {
        guard count >= 2, let mark = first, mark == last, "\"'".contains(mark) else { return self }
        return String(dropFirst().dropLast())
    }
}
