/// Standard error, where the program talks to people.
enum Talk {
    /// One line that starts with the program's name. Nobody is left to hear that it failed.
    static func say(_ message: String) {
        var line = "cachectl: \(message.printable)\n"
        _ = line.withUTF8 { StandardStream.error.write(UnsafeRawBufferPointer($0)) }
    }

    /// One line about a URL.
    static func say(_ url: String, _ message: String) {
        say("\(url): \(message)")
    }
}
