/// One column of a line.
struct Cell: Hashable {
    var character: Character
    var style = TextStyle.plain
    /// Whether the cell is part of the selected line, which is drawn in reverse video.
    var isSelected = false

    static let blank = Cell(character: " ")

    /// The second column of a wide character.
    static func continuation(_ style: TextStyle) -> Cell { Cell(character: "\0", style: style) }

    var isContinuation: Bool { character == "\0" }
}
