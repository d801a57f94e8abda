/// The configuration file, in the format that service managers read: lines of `NAME=value`, empty lines, and
/// comments that begin with `#` or `;`. A value can be quoted. systemd.exec(5), `EnvironmentFile=`.
struct ConfigurationFile {
    let path: String
    /// The names that the file sets, each with its line number.
    private(set) var names: [(name: String, line: Int)] = []
    /// The values. If a name is set twice, the last line counts.
    private(set) var values: [String: String] = [:]

    /// - Throws: `StartFailure` if the file cannot be read, or a line has another format.
    init(_ path: String) throws {
        self.path = path
        let lines: [String]
        do throws(TextFile.Problem) {
            lines = try TextFile.lines(of: path)
        } catch {
            throw StartFailure.configuration("the configuration file \(path) \(error)")
        }
        for (number, line) in zip(1..., lines) {
            let text = line.trimmed
            if text.isEmpty || text.hasPrefix("#") || text.hasPrefix(";") { continue }
            guard let match = text.wholeMatch(of: /([A-Z_][A-Z0-9_]*)=(.*)/) else {
                throw StartFailure.configuration(
                    "\(path):\(number): \"\(text)\" is not NAME=value, like "
                        + "\(SettingName.maxBytes.rawValue)=5GiB")
            }
            names.append((String(match.1), number))
            values[String(match.1)] = String(match.2).trimmed.unquoted
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
