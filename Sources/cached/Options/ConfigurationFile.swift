/// The configuration file: lines of `NAME=value`, empty lines and comments behind `#` or `;`, as service
/// managers read them; a value may stand in quotation marks. systemd.exec(5), `EnvironmentFile=`.
struct ConfigurationFile {
    let path: String
    /// The names it sets, each with the number of its line.
    private(set) var names: [(name: String, line: Int)] = []
    /// What they are set to, where one is set twice by the last of its lines.
    private(set) var values: [String: String] = [:]

    /// - Throws: `StartFailure` where it can't be read, or a line is none of these.
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
                    "\(path):\(number): \"\(text)\" is no NAME=value like "
                        + "\(SettingName.maxBytes.rawValue)=5GiB")
            }
            names.append((String(match.1), number))
            values[String(match.1)] = String(match.2).trimmed.unquoted
        }
    }
}

extension String {
    /// Without white space around it.
    var trimmed: String {
        let tail = drop(while: \.isWhitespace)
        guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(tail[...last])
    }

    /// Without the quotation marks it stands in, if it does.
    fileprivate var unquoted: String {
        guard count >= 2, let mark = first, mark == last, "\"'".contains(mark) else { return self }
        return String(dropFirst().dropLast())
    }
}
