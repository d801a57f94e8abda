/// The keys that the program recognizes.
enum Key: Hashable {
    case character(Character)
    case up, down, pageUp, pageDown, home, end
    case tab, enter, escape
}
