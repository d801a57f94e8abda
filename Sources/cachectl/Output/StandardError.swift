/// Standard error, where the program talks to people.
enum StandardError {
    /// One line that starts with the program's name. Nobody is left to hear that it failed.
    static func report(_ message: String) {
        var line = "cachectl: \(message.printable)\n"
        _ = line.withUTF8 { StandardStream.error.write(UnsafeRawBufferPointer($0)) }
    }

    /// One line about a URL.
    static func report(_ url: String, _ message: String) {
        report("\(url): \(message)")
    }
}
