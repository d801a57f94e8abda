/// A key of the keyboard, as far as anything is done with it.
enum Key: Hashable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end
    case tab, enter, escape
}
