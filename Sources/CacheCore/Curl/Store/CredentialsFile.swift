import Glibc
internal import SystemPackage

/// A file of credentials in the format of AWS: sections in brackets, and lines of `name = value`.
///
///     [default]
///     aws_access_key_id = AKIA…
///     aws_secret_access_key = …
///     aws_session_token = …
enum CredentialsFile {
    /// Why the file brings no credentials. The text is shown in parentheses behind the name of the file.
    enum Problem: Error, Hashable, CustomStringConvertible {
        case unreadable(Errno)
        case noProfile(String)
        case incomplete(String)
        case noToken

        var description: String {
            switch self {
            case .unreadable(.noSuchFileOrDirectory): "does not exist"
            case .unreadable(let error): "cannot be read: \(error)"
            case .noProfile(let name): "has no profile \"\(name)\""
            case .incomplete(let name):
                "has no usable aws_access_key_id and aws_secret_access_key in profile \"\(name)\""
            case .noToken: "is empty"
            }
        }
    }

    /// Bytes. No file of credentials is longer.
    private static let longest = 256 * 1024

    static func read(_ path: String, profile: String) throws(Problem) -> StoreCredentials {
        try parse(try text(of: path), profile: profile)
    }

    /// The file can also have what a `credential_process` of AWS prints.
    static func parse(_ text: String, profile: String) throws(Problem) -> StoreCredentials {
        if text.first(where: { !$0.isWhitespace }) == "{" {
            guard let found = TemporaryCredentials(text) else { throw .incomplete(profile) }
            return found.credentials
        }
        var section: Substring?
        var values: [String: String] = [:]
        var isFound = false
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.trimmingBlanks
            if line.hasPrefix("["), line.hasSuffix("]") {
                section = line.dropFirst().dropLast().trimmingBlanks
                isFound = isFound || section == profile[...]
            } else if section == profile[...], let separator = line.firstIndex(of: "="),
                line.first != "#", line.first != ";"
            {
                let name = line[..<separator].trimmingBlanks.lowercased()
                values[name] = String(line[line.index(after: separator)...].trimmingBlanks)
            }
        }
        guard isFound else { throw .noProfile(profile) }
        guard let keyID = values["aws_access_key_id"],
            let secret = values["aws_secret_access_key"],
            let found = StoreCredentials(
                keyID: keyID, secret: secret, token: values["aws_session_token"])
        else { throw .incomplete(profile) }
        return found
    }

    /// open(2), read(2). The path can be a FIFO without a writer, so the opening does not wait.
    static func text(of path: String) throws(Problem) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw .unreadable(Errno(rawValue: errno)) }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: longest)
        var count = 0
        while count < longest {
            let more = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(file, buffer.baseAddress! + count, longest - count)
            }
            if more < 0 { throw .unreadable(Errno(rawValue: errno)) }
            if more == 0 { break }
            count += more
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        let tail = drop(while: \.isWhitespace)
        guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return tail[...last]
    }
}
