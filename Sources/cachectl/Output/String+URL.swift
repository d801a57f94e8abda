import CacheKey
import CacheWire

/// Shortens URLs for narrow columns.
extension String {
    /// The URL without its scheme, which says little, and with terminal controls escaped.
    var withoutScheme: String {
        let text = printable
        guard let slashes = text.firstRange(of: "://") else { return text }
        return String(text[slashes.upperBound...])
    }

    /// The least number of columns that a shortened URL keeps of its host.
    private static let hostStart = 3

    /// The URL without its scheme, shortened to `limit` columns. `mark` shows the cut.
    ///
    /// The query is cut first, then directories from left to right. The start of the host always
    /// remains. The last path component remains whole if it fits.
    func shortURL(columns limit: Int, mark: String) -> String {
        let whole = withoutScheme
        guard whole.columns > limit else { return whole }
        let path = String(whole.prefix { $0 != "?" && $0 != "#" })
        if path != whole, path.columns + mark.columns <= limit { return path + mark }
        let room = limit - mark.columns
        var tail = ""
        for component in path.split(separator: "/", omittingEmptySubsequences: false)
            .dropFirst().reversed()
        {
            let longer = "/" + component + tail
            // A directory is kept only if a quarter of the columns remains for the host. The last
            // component needs less.
            guard longer.columns + (tail.isEmpty ? Self.hostStart : limit / 4) <= room else {
                break
            }
            tail = longer
        }
        guard !tail.isEmpty else {
            let isHost = !path.contains("/")
            return path.middle(columns: limit, mark: mark, start: isHost ? .max : Self.hostStart)
        }
        return path.first(columns: room - tail.columns) + mark + tail
    }
}

extension String {
    /// The host of a URL in lower case, without a port; empty if there is none.
    var host: String { (try? CacheURL(self))?.host.lowercased() ?? "" }
}
