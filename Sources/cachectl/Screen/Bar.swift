/// A horizontal progress bar.
struct Bar {
    let terminal: TerminalCapabilities
    /// The width in columns.
    let width: Int

    /// A bar that is filled to `fraction`, 0 to 1. With Unicode its resolution is half a column.
    func line(_ fraction: Double) -> StyledLine {
        let halves = Int(Double(2 * max(0, width)) * max(0, min(1, fraction)))
        let (whole, half) = terminal.isUnicode ? (halves / 2, halves % 2) : (halves / 2, 0)
        var line = StyledLine(
            String(repeating: terminal.isUnicode ? "━" : "#", count: whole), .done)
        line.append(String(repeating: "╸", count: half), .done)
        let rest = max(0, width - whole - half)
        line.append(String(repeating: terminal.isUnicode ? "─" : "-", count: rest), .faint)
        return line
    }
}
