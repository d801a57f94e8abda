import Glibc

/// Writes to the standard streams.
enum StandardStreams {
    /// Writes a text at once. write(2).
    static func write(_ text: String, to descriptor: Int32) {
        var rest = Substring(text).utf8
        while !rest.isEmpty {
            let count = Array(rest).withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            guard count >= 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }
}
