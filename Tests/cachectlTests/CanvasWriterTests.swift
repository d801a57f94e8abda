import Testing

@testable import cachectl

@Suite struct CanvasWriterTests {
    @Test func onlyChangedCellsAreWritten() {
        var writer = CanvasWriter(terminal: TerminalCapabilities(isUnicode: true, colors: .sixteen))
        var canvas = Canvas(columns: 20, lines: 2)
        canvas.put(StyledLine("hello"), at: 0)
        #expect(writer.frame(canvas) == "\u{1B}[0m\u{1B}[2J\u{1B}[1;1Hhello")
        #expect(writer.frame(canvas) == "")
        canvas.put(StyledLine("hallo"), at: 0)
        #expect(writer.frame(canvas) == "\u{1B}[1;2Ha")
        writer.forget()
        #expect(writer.frame(canvas) == "\u{1B}[0m\u{1B}[2J\u{1B}[1;1Hhallo")
    }

    @Test func resizedScreenIsDrawnCompletely() {
        var writer = CanvasWriter(terminal: TerminalCapabilities(isUnicode: true, colors: .sixteen))
        var canvas = Canvas(columns: 20, lines: 2)
        canvas.put(StyledLine("hello"), at: 0)
        _ = writer.frame(canvas)
        canvas = Canvas(columns: 21, lines: 2)
        canvas.put(StyledLine("hello"), at: 0)
        #expect(writer.frame(canvas).hasSuffix("\u{1B}[1;1Hhello"))
    }

    /// A terminal that receives only the differences between random screens shows the last one.
    @Test func writtenDifferencesAddUpToTheScreen() {
        var generator = SystemRandomNumberGenerator()
        let pieces = ["a", "b", " ", "画", "🐈", "──", "          "]
        let styles: [TextStyle] = [.plain, .done, .failure]
        var writer = CanvasWriter(terminal: TerminalCapabilities(isUnicode: true, colors: .sixteen))
        var terminal = CellGrid(columns: 24, lines: 3)
        for _ in 0..<500 {
            var canvas = Canvas(columns: 24, lines: 3)
            for index in 0..<3 {
                var line = StyledLine()
                for _ in 0..<Int.random(in: 0..<20, using: &generator) {
                    line.append(
                        pieces.randomElement(using: &generator)!,
                        styles.randomElement(using: &generator)!)
                }
                canvas.put(line, at: index)
            }
            terminal.receive(writer.frame(canvas))
            #expect(terminal.text == canvas.text)
        }
    }
}

/// A terminal that understands Cursor Position, Erase and colors, but does not show colors.
private struct CellGrid {
    private var lines: [[Character]]
    private var row = 0
    private var column = 0

    init(columns: Int, lines: Int) {
        self.lines = Array(repeating: Array(repeating: " ", count: columns), count: lines)
    }

    var text: [String] {
        lines.map { line in
            var text = String(line.filter { $0 != "\0" })
            while text.last == " " { text.removeLast() }
            return text
        }
    }

    mutating func receive(_ text: String) {
        var rest = Substring(text)
        while let character = rest.popFirst() {
            guard character == "\u{1B}" else {
                put(character)
                continue
            }
            let sequence = rest.prefix { !$0.isLetter }
            rest = rest.dropFirst(sequence.count)
            switch rest.popFirst() {
            case "H":
                let position = sequence.dropFirst().split(separator: ";").compactMap { Int($0) }
                (row, column) = (position[0] - 1, position[1] - 1)
            case "J":
                lines = lines.map { $0.map { _ in " " } }
            default: break
            }
        }
    }

    /// If one half of a wide character is overwritten, the other half becomes blank.
    private mutating func put(_ character: Character) {
        for offset in 0..<character.columns { clear(column + offset) }
        lines[row][column] = character
        if character.columns == 2 { lines[row][column + 1] = "\0" }
        column += character.columns
    }

    private mutating func clear(_ column: Int) {
        if lines[row][column] == "\0" { lines[row][column - 1] = " " }
        if column + 1 < lines[row].count, lines[row][column + 1] == "\0" {
            lines[row][column + 1] = " "
        }
        lines[row][column] = " "
    }
}
