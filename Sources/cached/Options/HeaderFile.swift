import CacheValues
import Glibc

/// One file of header fields: sections by origin, each with lines of `Name: value`.
struct HeaderFile {
    /// The fields of each section, in the order of the lines.
    private(set) var fields: [HeaderSection: [RequestField]] = [:]
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
        var section: HeaderSection?
        for (number, line) in zip(1..., lines) {
            let text = line.trimmed
            if text.isEmpty || text.hasPrefix("#") || text.hasPrefix(";") { continue }
            let place = "\(path):\(number):"
            if text.hasPrefix("[") {
                section = try HeaderSection(text, place)
            } else {
                guard let section else {
                    throw StartFailure.configuration(
                        "\(place) a field comes before any section like [https://example.org]")
                }
                fields[section, default: []].append(try Self.field(text, of: section, place))
            }
        }
    }

    /// The line is not quoted, because it can be a secret.
    private static func field(
        _ text: String, of section: HeaderSection, _ place: String
    ) throws -> RequestField {
        let (name, value) = text.splitOnce(at: ":")
        let field = RequestField(name: name, value: value.trimmed)
        if let problem = field.problem { throw StartFailure.configuration("\(place) \(problem)") }
        guard section.pattern == nil || !field.isCredential else {
            throw StartFailure.configuration(
                "\(place) \(field.name) is for one origin, not for a pattern; name the host without *"
            )
        }
        return field
    }
}

extension String {
    /// The parts before and after the first mark; the second is empty without one.
    func splitOnce(at mark: Character) -> (String, String) {
        let parts = split(separator: mark, maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
    }
}
