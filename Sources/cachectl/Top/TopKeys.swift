/// The keys of `top`, for its help and for the manual.
enum TopKeys {
    static let all: [(keys: String, meaning: String)] = [
        ("q, Ctrl-C", "leave"),
        ("?", "the signs and the keys"),
        ("Tab, 1 to 4", "another view"),
        ("arrows, j, k", "another row"),
        ("PgUp, PgDn, Home, End", "another page"),
        ("Enter", "details of the image, images of the host"),
        ("Esc", "back, and all rows"),
        ("/", "only rows that contain a text"),
        ("x", "cancel, remove, dismiss"),
        ("r", "fetch again, ask the origin"),
        ("R, c", "retry, clear all that failed"),
        ("p", "pin, unpin"),
        ("y", "copy the URL"),
        ("n, l, u", "newest, largest, least recently used first"),
        ("mouse", "click: select, then details; wheel: rows"),
    ]

    private static let width = 23

    /// As a table for `--help` and the manual page.
    static var text: String {
        all.map { row in
            "  " + row.keys + String(repeating: " ", count: width - row.keys.columns) + row.meaning
        }.joined(separator: "\n")
    }

    /// As lines of the screen.
    static var lines: [StyledLine] {
        all.map { row in
            var line = StyledLine(row.keys, .strong)
            line.pad(to: width)
            line.append(row.meaning)
            return line
        }
    }
}
