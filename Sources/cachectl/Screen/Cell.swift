/// One column of a line.
struct Cell: Hashable {
    var character: Character
    var style = TextStyle.plain
    /// Part of the line a person has chosen: light and dark change places.
    var isSelected = false

    static let blank = Cell(character: " ")

    /// The second column of a wide character, which that one fills.
    static func continuation(_ style: TextStyle) -> Cell { Cell(character: "\0", style: style) }

    var isContinuation: Bool { character == "\0" }
}
