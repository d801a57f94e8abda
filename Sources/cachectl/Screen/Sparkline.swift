/// A row of small bars, one for each sample. The newest is at the right.
struct Sparkline {
    let terminal: TerminalCapabilities
    /// The width in columns.
    let width: Int

    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    private static let letters: [Character] = ["_", ".", "-", "=", "*", "#"]

    /// The most recent samples, scaled to the largest of them. A sample above 0 never looks like 0.
    ///
    /// - Parameter faint: how many samples at the start are drawn faintly, because they are of another time.
    func line(_ samples: [Double], faint: Int = 0) -> StyledLine {
        let levels = terminal.isUnicode ? Self.blocks : Self.letters
        let shown = samples.suffix(max(0, width))
        let top = shown.max() ?? 0
        var line = StyledLine(String(repeating: " ", count: max(0, width - shown.count)))
        for (place, sample) in zip(shown.indices, shown) {
            guard sample > 0, top > 0 else {
                line.append(String(levels[0]), .faint)
                continue
            }
            let level = Int((sample / top * Double(levels.count - 1)).rounded(.up))
            line.append(String(levels[level]), place < faint ? .faint : .done)
        }
        return line
    }
}
