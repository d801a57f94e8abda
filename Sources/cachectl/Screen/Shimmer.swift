import Glibc

/// A band of light that sweeps over the words of what is coming. The letters are the cut-outs.
///
/// The brightness of a cell depends only on its column and the time, so that all rows are in phase.
struct Shimmer {
    /// The width of the screen in columns. The band crosses it once a period.
    let columns: Int
    let now: Duration

    /// The highest brightness.
    static let brightest = 8
    private static let period = 1.6
    /// The distance from the middle of the band to its edge, in columns.
    private static let reach = 12.0

    /// Text that starts at the given column of the screen, in the light that falls on it. Without
    /// colors nothing is seen of the light.
    func line(_ text: String, at column: Int) -> StyledLine {
        var line = StyledLine()
        for character in text {
            line.append(String(character), .shimmer(light(at: column + line.columns)))
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
}
