import Glibc

/// A band of light that sweeps over placeholders for unknown values.
///
/// The brightness of a cell depends only on its column and the time, so that all rows are in phase.
struct Shimmer {
    let terminal: TerminalCapabilities
    /// The width of the screen in columns. The band crosses it once a period.
    let columns: Int
    let now: Duration

    /// The highest brightness.
    static let brightest = 8
    private static let period = 1.6
    /// The distance from the middle of the band to its edge, in columns.
    private static let reach = 12.0

    /// A line of `width` placeholder cells that starts at the given column of the screen.
    func line(at column: Int, width: Int) -> StyledLine {
        var line = StyledLine()
        for offset in 0..<max(0, width) {
            let light = light(at: column + offset)
            line.append(glyph(light), .shimmer(light))
        }
        return line
    }

    private func light(at column: Int) -> Int {
        let phase = (now / .seconds(Self.period)).truncatingRemainder(dividingBy: 1)
        // The band starts to the left of the screen and ends to the right of it, which leaves a
        // short pause.
        let middle = phase * (Double(columns) + 2 * Self.reach) - Self.reach
        let distance = abs(Double(column) - middle) / Self.reach
        guard distance < 1 else { return 0 }
        return Int((cos(distance * .pi) + 1) / 2 * Double(Self.brightest) + 0.5)
    }

    /// Without colors, denser characters show a higher brightness.
    private func glyph(_ light: Int) -> String {
        let level = light * 2 / Self.brightest
        guard terminal.isUnicode else { return [".", ":", "="][level] }
        return terminal.colors == .none ? ["░", "▒", "▓"][level] : "▄"
    }
}
