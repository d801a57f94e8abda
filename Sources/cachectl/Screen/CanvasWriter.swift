/// Turns one screen into the next with few bytes: only cells that changed are written (ECMA-48).
struct CanvasWriter {
    let terminal: TerminalCapabilities
    /// What the terminal shows; `nil` for nobody knows.
    private var shown: Canvas?

    /// So many unchanged cells cost no more than moving the cursor over them.
    private static let gap = 6

    init(terminal: TerminalCapabilities) {
        self.terminal = terminal
    }

    /// Nobody knows any more what the terminal shows.
    mutating func forget() {
        shown = nil
    }

    /// The bytes that make the terminal show `canvas`; none if it does.
    mutating func frame(_ canvas: Canvas) -> String {
        var text = ""
        var writer = SGRWriter(terminal: terminal)
        let before = known(canvas)
        if before == nil { text += "\u{1B}[0m\u{1B}[2J" }
        let blank = Array(repeating: Cell.blank, count: canvas.columns)
        for (index, line) in canvas.lines.enumerated() {
            for run in Self.changes(from: before?.lines[index] ?? blank, to: line) {
                // Cursor Position; counted from 1.
                text += "\u{1B}[\(index + 1);\(run.lowerBound + 1)H"
                for cell in line[run] { writer.write(cell, to: &text) }
            }
        }
        writer.reset(&text)
        shown = canvas
        return text
    }

    /// A screen of another size says nothing about this one.
    private func known(_ canvas: Canvas) -> Canvas? {
        guard let shown, shown.columns == canvas.columns, shown.lines.count == canvas.lines.count
        else { return nil }
        return shown
    }

    /// Where two lines differ, near places joined, no wide character cut in two.
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
