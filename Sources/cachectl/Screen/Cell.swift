/// One column of a line.
struct Cell: Hashable {
    var character: Character
    var ink = Ink.plain
    /// Part of the line a person has chosen: light and dark change places.
    var isChosen = false

    static let blank = Cell(character: " ")

    /// The second column of a wide character, which that one fills.
    static func continuation(_ ink: Ink) -> Cell { Cell(character: "\0", ink: ink) }

    var isContinuation: Bool { character == "\0" }
}
