import Glibc

/// The configuration file: lines of `NAME=value`, empty lines and comments behind `#`, as service
/// managers read them. systemd.exec(5), `EnvironmentFile=`.
enum ConfigurationFile {
    /// The names a file sets; none if it can't be opened.
    static func names(in path: String) -> [String] {
        guard let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var names: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) >= 0, let line {
            let text = String(cString: line).drop { $0 == " " || $0 == "\t" }
            guard !text.hasPrefix("#"), let sign = text.firstIndex(of: "=") else { continue }
            names.append(String(text[..<sign]))
        }
        return names
    }
}
