import Glibc

/// A band of light that sweeps over placeholders, where nothing is known yet.
///
/// How light a cell is depends on its column and the time alone: all rows are in phase.
struct Shimmer {
    let terminal: TerminalCapabilities
    /// Columns of the whole screen, which the band crosses once a period.
    let columns: Int
    let now: Duration

    /// The most light there is.
    static let brightest = 8
    private static let period = 1.6
    /// From the middle of the band to its edge, in columns.
    private static let reach = 12.0

    /// So many placeholder cells, of which the first is in this column of the screen.
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
        // From left of the screen to right of it, so that there is a moment of rest.
        let middle = phase * (Double(columns) + 2 * Self.reach) - Self.reach
        let distance = abs(Double(column) - middle) / Self.reach
        guard distance < 1 else { return 0 }
        return Int((cos(distance * .pi) + 1) / 2 * Double(Self.brightest) + 0.5)
    }

    /// Without colours the light shows in the density of the characters.
    private func glyph(_ light: Int) -> String {
        let level = light * 2 / Self.brightest
        guard terminal.isUnicode else { return [".", ":", "="][level] }
        return terminal.colors == .none ? ["░", "▒", "▓"][level] : "▄"
    }
}
