import CacheValues
import Glibc

/// One file of header fields: sections by origin, each with lines of `Name: value`.
struct HeaderFile {
    /// The fields of each origin, in the order of the lines.
    private(set) var fields: [String: [RequestField]] = [:]
    /// The reason why the file is unsafe, if it is.
    private(set) var warning: String?

    /// - Throws: `StartFailure` if the file cannot be read, or a line has another format.
    init(_ path: String) throws {
        let lines: [String]
        do throws(TextFile.Problem) {
            lines = try TextFile.lines(of: path)
        } catch {
            throw StartFailure.configuration("the header file \(path) \(error)")
        }
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & 0o077 != 0 {
            warning = "other users can read the header file \(path); run chmod 600 on it"
        }
        var origin: String?
        for (number, line) in zip(1..., lines) {
            let text = line.trimmed
            if text.isEmpty || text.hasPrefix("#") || text.hasPrefix(";") { continue }
            let place = "\(path):\(number):"
            if text.hasPrefix("[") {
                origin = try Self.origin(text, place)
            } else {
                guard let origin else {
                    throw StartFailure.configuration(
                        "\(place) a field comes before any section like [https://example.org]")
                }
                fields[origin, default: []].append(try Self.field(text, place))
            }
        }
    }

    /// RFC 6454 §4.
    private static func origin(_ text: String, _ place: String) throws -> String {
        let form = /\[(https?):\/\/(\[[0-9A-Fa-f:.]+\]|[^:\/@?#\[\]\s]+)(?::([0-9]{1,5}))?\/?\]/
        guard let match = text.wholeMatch(of: form.ignoresCase()) else {
            throw StartFailure.configuration(
                "\(place) a section is an origin like [https://example.org] or "
                    + "[http://127.0.0.1:8000], without a path")
        }
        // Requests name it in that form.
        guard match.2.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw StartFailure.configuration(
                "\(place) write the host in its ASCII form, which begins with xn--")
        }
        let scheme = match.1.lowercased()
        let usual = scheme == "https" ? 443 : 80
        let port = match.3.flatMap { Int($0) }.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        return "\(scheme)://\(match.2.lowercased())\(port)"
    }

    /// The line is not quoted, because it can be a secret.
    private static func field(_ text: String, _ place: String) throws -> RequestField {
        let (name, value) = text.splitOnce(at: ":")
        let field = RequestField(name: name, value: value.trimmed)
        if let problem = field.problem { throw StartFailure.configuration("\(place) \(problem)") }
        return field
    }
}

extension String {
    /// The parts before and after the first mark; the second is empty without one.
    fileprivate func splitOnce(at mark: Character) -> (String, String) {
        let parts = split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
}
