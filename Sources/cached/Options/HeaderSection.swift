import CacheKey

/// The title of a section of header fields: an origin, or a pattern of origins with `*` in the host.
struct HeaderSection: Hashable {
    /// The form of the hosts; `nil` for one origin.
    let pattern: HostPattern?
    /// In lower case, with a port only if it is not the scheme's, as requests name an origin. RFC 6454 §4.
    let text: String

    /// - Throws: `StartFailure` that begins with `place`.
    init(_ text: String, _ place: String) throws {
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
        self.text = "\(scheme)://\(match.2.lowercased())\(port)"
        guard match.2.contains("*") else {
            pattern = nil
            return
        }
        do throws(HostPattern.Problem) {
            pattern = try HostPattern(match.2)
        } catch {
            throw StartFailure.configuration(
                "\(place) a section with * names hosts of one form, like [https://*.example.org], and not all hosts"
            )
        }
    }

    /// Whether an origin fits the pattern.
    func matches(_ origin: String) -> Bool {
        let (own, other) = (text.split(separator: ":"), origin.split(separator: ":"))
        return own.count == other.count && own[0] == other[0]
            && own.dropFirst(2) == other.dropFirst(2)
            && pattern?.matches(other[1].dropFirst(2)) == true
    }
}
