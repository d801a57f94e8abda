/// Which lines of the screen are for what. A small screen has less around the rows.
struct TopLayout: Hashable {
    /// Title, then what there is to do altogether.
    let title = 0
    var overall: Int?
    var budget: Int?
    var pressure: Int?
    var sparklines: Int?
    /// The names of columns.
    var heads: Int?
    var rows: Range<Int>
    var keys: Int

    /// From so many lines on there is room for everything.
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
        heads = take(isCached)
        keys = max(line, size.lines - 1)
        rows = line..<keys
    }
}
