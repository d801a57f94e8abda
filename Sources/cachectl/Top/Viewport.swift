/// Which rows of a long list are on the screen, and which of them is chosen. Pure.
///
/// The chosen row is always on the screen.
struct Viewport: Hashable {
    /// Whether a row is chosen; else the screen stays where it is when its size changes.
    var hasCursor = true
    /// The first row on the screen.
    private(set) var offset = 0
    /// The row a person has chosen.
    private(set) var cursor = 0
    /// Rows there are, and rows that fit.
    private(set) var count = 0
    private(set) var height = 0

    /// The rows on the screen.
    var range: Range<Int> { offset..<min(count, offset + height) }

    mutating func resized(height: Int) {
        self.height = max(0, height)
        settle()
    }

    /// The list has changed its length.
    mutating func counted(_ count: Int) {
        self.count = count
        settle()
    }

    /// The rows have changed places: these are chosen and first now.
    mutating func moved(cursor: Int, offset: Int) {
        self.cursor = cursor
        self.offset = offset
        settle()
    }

    /// Rows before the first on the screen went: those on it stay where they are.
    mutating func rowsRemoved(above lost: Int) {
        offset -= lost
        cursor -= lost
        settle()
    }

    /// Chooses another row; the screen follows it.
    mutating func moveCursor(by steps: Int) {
        cursor += steps
        settle()
    }

    /// Shows other rows.
    mutating func scroll(by steps: Int) {
        offset = max(0, min(offset + steps, count - height))
        cursor = offset
        settle()
    }

    private mutating func settle() {
        offset = max(0, min(offset, count - height))
        guard hasCursor else { return cursor = offset }
        cursor = max(0, min(cursor, count - 1))
        if cursor < offset { offset = cursor }
        if height > 0, cursor >= offset + height { offset = cursor - height + 1 }
    }
}
