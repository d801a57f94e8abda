/// The escape sequences that draw lines over the previous lines (ECMA-48).
///
/// After each frame the cursor is at the first column of the first line, so that ``erase`` alone
/// clears the screen, whichever lines were drawn.
struct InlineScreen {
    let terminal: TerminalCapabilities

    /// Carriage return, then Erase in Page from the cursor to the end.
    static let erase: StaticString = "\r\u{1B}[J"

    /// The bytes that replace the previous lines by `lines`.
    func frame(_ lines: [StyledLine]) -> String {
        var frame = "\r"
        for line in lines {
            // Erase in Line removes the rest of a longer previous line.
            frame += line.encoded(terminal) + "\u{1B}[K\n"
        }
        frame += "\u{1B}[J"
        if !lines.isEmpty {
            // Cursor Up.
            frame += "\u{1B}[\(lines.count)A"
        }
        return frame
    }
}
