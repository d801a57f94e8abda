/// Updates the terminal with few bytes: it writes only the cells that have changed (ECMA-48).
struct CanvasWriter {
    let terminal: TerminalCapabilities
    /// The content that the terminal shows; `nil` if unknown.
    private var shown: Canvas?

    /// Writing this many unchanged cells costs no more than moving the cursor over them.
    private static let gap = 6

    init(terminal: TerminalCapabilities) {
        self.terminal = terminal
    }

    /// Forgets the terminal's content, so that the next frame is drawn completely.
    mutating func forget() {
        shown = nil
    }

    /// The bytes that make the terminal show `canvas`; empty if it does already.
    mutating func frame(_ canvas: Canvas) -> String {
        var text = ""
        var writer = SGRWriter(terminal: terminal)
        let before = known(canvas)
        if before == nil { text += "\u{1B}[0m\u{1B}[2J" }
        let blank = Array(repeating: Cell.blank, count: canvas.columns)
        for (index, line) in canvas.lines.enumerated() {
            for run in Self.changes(from: before?.lines[index] ?? blank, to: line) {
                // Cursor Position counts from 1.
                text += "\u{1B}[\(index + 1);\(run.lowerBound + 1)H"
                for cell in line[run] { writer.write(cell, to: &text) }
            }
        }
        writer.reset(&text)
        shown = canvas
        return text
    }

    /// The terminal's content, unless the size of the screen has changed.
    private func known(_ canvas: Canvas) -> Canvas? {
        guard let shown, shown.columns == canvas.columns, shown.lines.count == canvas.lines.count
        else { return nil }
        return shown
    }

    /// The ranges in which two lines differ. Nearby ranges are joined, and no wide character is
    /// split.
    private static func changes(from old: [Cell], to new: [Cell]) -> [Range<Int>] {
        guard old != new else { return [] }
        var runs: [Range<Int>] = []
        for column in new.indices where old[column] != new[column] {
            var start = column
            while start > 0, new[start].isContinuation || old[start].isContinuation { start -= 1 }
            if let last = runs.last, start <= last.upperBound + gap {
                runs[runs.count - 1] = last.lowerBound..<(column + 1)
            } else {
                runs.append(start..<(column + 1))
            }
        }
        return runs
    }
}
