/// URLs where columns are few.
extension String {
    /// A URL without its scheme, which says little, and without anything a terminal would obey.
    var withoutScheme: String {
        let text = printable
        guard let slashes = text.firstRange(of: "://") else { return text }
        return String(text[slashes.upperBound...])
    }

    /// Columns that a shortened URL's host has at least.
    private static let hostStart = 3

    /// A URL as above in at most so many columns, marked where something was cut out. The query goes
    /// first, then directories from the first to the last; the beginning of the host stays, and the
    /// last component whole where it can.
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
            // Directories leave more to the host than the last component has to.
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
