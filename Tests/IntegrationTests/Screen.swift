/// A terminal's screen with the features that a progress display uses: printable text, carriage return,
/// line feed, cursor up, and erasing to the end of the line or screen (ECMA-48).
struct Screen {
    private(set) var lines: [[Character]] = [[]]
    private var row = 0
    private var column = 0
    /// Escape sequences that are not supported.
    private(set) var unknown: [String] = []

    /// The screen after all this text.
    init(showing text: String) {
        var rest = Substring(text)
        while let character = rest.popFirst() {
            switch character {
            case "\r": column = 0
            case "\n": (row, column) = (row + 1, 0)
            // The terminal's line discipline combines the two, and Swift reads them as one character.
            case "\r\n": (row, column) = (row + 1, 0)
            case "\u{1B}": perform(&rest)
            default: put(character)
            }
            while lines.count <= row { lines.append([]) }
        }
    }

    /// Whether the screen is empty and the cursor is back at its start.
    var isClean: Bool {
        row == 0 && column == 0 && lines.allSatisfy { line in line.allSatisfy { $0 == " " } }
    }

    private mutating func put(_ character: Character) {
        while lines[row].count < column { lines[row].append(" ") }
        if column < lines[row].count {
            lines[row][column] = character
        } else {
            lines[row].append(character)
        }
        column += 1
    }

    /// Performs an escape sequence: `[`, digits and semicolons, a letter.
    private mutating func perform(_ rest: inout Substring) {
        let parameters = rest.dropFirst().prefix { $0.isNumber || $0 == ";" }
        let sequence = rest.prefix(1 + parameters.count + 1)
        rest = rest.dropFirst(sequence.count)
        switch (sequence.first, sequence.last) {
        case ("[", "A"): row = max(0, row - (Int(parameters) ?? 1))
        case ("[", "K"): lines[row] = Array(lines[row].prefix(column))
        case ("[", "J"):
            lines[row] = Array(lines[row].prefix(column))
            lines.removeLast(lines.count - row - 1)
        // Colours are ignored.
        case ("[", "m"): break
        default: unknown.append(String(sequence))
        }
    }
}
