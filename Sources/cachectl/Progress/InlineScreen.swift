/// The escape sequences that draw lines over the lines before (ECMA-48).
///
/// After each frame the cursor is back at the first column of the first line, so that
/// ``erase`` is all that is needed to leave a clean screen, whatever was drawn.
struct InlineScreen {
    let terminal: TerminalCapabilities

    /// Carriage return, and Erase in Page from here to the end.
    static let erase: StaticString = "\r\u{1B}[J"

    /// The bytes that replace what is drawn by `lines`.
    func frame(_ lines: [StyledLine]) -> String {
        var frame = "\r"
        for line in lines {
            // Erase in Line: what a longer line has left.
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
