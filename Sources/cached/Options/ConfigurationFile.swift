import Glibc
import SystemPackage

/// The configuration file: lines of `NAME=value`, empty lines and comments behind `#` or `;`, as service
/// managers read them. systemd.exec(5), `EnvironmentFile=`.
enum ConfigurationFile {
    /// The names a file sets, each with the number of its line.
    ///
    /// - Throws: `StartFailure` where it can't be read, or a line is none of these.
    static func names(in path: String) throws -> [(name: String, line: Int)] {
        guard let file = fopen(path, "re") else { throw unreadable(path) }
        defer { fclose(file) }
        var names: [(String, Int)] = []
        var buffer: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(buffer) }
        var number = 0
        while getline(&buffer, &capacity, file) >= 0, let buffer {
            number += 1
            let text = String(cString: buffer).split(whereSeparator: \.isWhitespace)
                .joined(separator: " ")
            if text.isEmpty || text.hasPrefix("#") || text.hasPrefix(";") { continue }
            guard let match = text.prefixMatch(of: /([A-Z_][A-Z0-9_]*)=/) else {
                throw StartFailure.configuration(
                    "\(path):\(number): \"\(text)\" is no NAME=value like "
                        + "\(SettingName.maxBytes.rawValue)=5GiB")
            }
            names.append((String(match.1), number))
        }
        // What is no file at all tells when it is read.
        guard ferror(file) == 0 else { throw unreadable(path) }
        return names
    }

    private static func unreadable(_ path: String) -> StartFailure {
        .configuration(
            "the configuration file \(path) can't be read: \(Errno(rawValue: errno))")
    }
}
