import CacheWire

/// Writes messages for people to standard error.
enum StandardError {
    /// Writes one line that starts with the program's name. A write error is ignored because there
    /// is no other way to report it.
    static func report(_ message: String) {
        var line = "cachectl: \(message.printable)\n"
        _ = line.withUTF8 { StandardStream.error.write(UnsafeRawBufferPointer($0)) }
    }

    /// Writes one line about a URL.
    static func report(_ url: String, _ message: String) {
        report("\(url): \(message)")
    }

    /// Writes lines as they are, except that terminal controls are escaped.
    static func write(lines text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var text = lines.map { String($0).printable + "\n" }.joined()
        _ = text.withUTF8 { StandardStream.error.write(UnsafeRawBufferPointer($0)) }
    }
}
