/// The keys and movements of the mouse that the program recognizes.
enum Key: Hashable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end
    case tab, enter, escape, backspace
    /// The left button, at a column and line that count from 0.
    case click(column: Int, line: Int)
    case wheelUp, wheelDown
}
