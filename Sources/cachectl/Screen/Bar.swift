/// A horizontal progress bar.
struct Bar {
    let terminal: TerminalCapabilities
    /// The width in columns.
    let width: Int

    /// The eighths of a block, from the left.
    private static let eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]

    /// A bar that is filled to `fraction`, 0 to 1. With Unicode its resolution is an eighth of a
    /// column. It is never ahead of the fraction.
    func line(_ fraction: Double, _ style: TextStyle = .done) -> StyledLine {
        let width = max(0, width)
        let eighths = Int(saturating: Double(8 * width) * max(0, min(1, fraction)))
        guard terminal.isUnicode else {
            var line = StyledLine(String(repeating: "#", count: eighths / 8), style)
            line.append(String(repeating: "-", count: width - eighths / 8), .faint)
            return line
        }
        var line = StyledLine(
            String(repeating: "█", count: eighths / 8) + Self.eighths[eighths % 8], style)
        line.append(String(repeating: "░", count: width - line.columns), .faint)
        return line
    }
}
