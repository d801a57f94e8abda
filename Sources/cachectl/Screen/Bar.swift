/// A bar of which a share is done.
struct Bar {
    let terminal: TerminalCapabilities
    /// Columns.
    let width: Int

    /// A bar of which `fraction` (0 to 1) is done, by halves of a column where the characters allow.
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
