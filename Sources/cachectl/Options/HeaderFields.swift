import Glibc

/// The header fields of an account, from a file: on the command line every user would see them.
enum HeaderFields {
    /// Reads lines like `Authorization: Bearer TOKEN`. The daemon checks them. Messages quote no line, which can be a
    /// secret.
    static func read(_ path: String) throws -> [String: String] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw CommandFailure.system("open \(path)") }
        defer { close(file) }
        let bytes = try FileBytes.read(file, name: path)
        var fields: [String: String] = [:]
        for (number, line) in bytes.split(separator: 10, omittingEmptySubsequences: false)
            .enumerated()
        {
            let text = String(decoding: line.trimmingBlanks, as: UTF8.self)
            if text.isEmpty || text.hasPrefix("#") { continue }
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, fields[String(parts[0])] == nil else {
                throw CommandFailure(
                    status: .usage,
                    message:
                        "\(path):\(number + 1): not a new field like \"Authorization: Bearer TOKEN\""
                )
            }
            fields[String(parts[0])] = String(parts[1].drop { $0 == " " || $0 == "\t" })
        }
        return fields
    }
}
