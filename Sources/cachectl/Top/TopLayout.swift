/// Assigns the lines of the screen. A small screen has fewer lines around the rows.
struct TopLayout: Hashable {
    /// The title, followed by the overall progress.
    let title = 0
    var overall: Int?
    var budget: Int?
    var pressure: Int?
    var sparklines: Int?
    /// The column titles.
    var heads: Int?
    var rows: Range<Int>
    var keys: Int

    /// What lies over the rows: the details, or the signs and keys.
    var panel: Range<Int> { (overall ?? title) + 1..<max((overall ?? title) + 1, keys) }

    /// The least number of lines with room for all parts.
    private static let roomy = 14

    init(size: TerminalSize, view: TopModel.View) {
        let isRoomy = size.lines >= Self.roomy
        var line = 1
        func take(_ wanted: Bool) -> Int? {
            guard wanted else { return nil }
            defer { line += 1 }
            return line
        }
        let isCached = view == .cached
        overall = take(!isCached || isRoomy)
        budget = take(isCached)
        pressure = take(isCached && isRoomy)
        sparklines = take(isCached && isRoomy)
        heads = take(view != .downloads)
        keys = max(line, size.lines - 1)
        rows = line..<keys
    }
}
