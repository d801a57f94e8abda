/// Which rows of a long list are on the screen, and which of them is chosen. Pure.
struct Viewport: Hashable {
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

    /// Rows before the first on the screen went: those on it stay where they are.
    mutating func lost(above lost: Int) {
        offset -= lost
        cursor -= lost
        settle()
    }

    /// Chooses another row; the screen follows it.
    mutating func choose(by steps: Int) {
        cursor = clamped(cursor + steps)
        if cursor < offset { offset = cursor }
        if cursor >= offset + height { offset = cursor - height + 1 }
        settle()
    }

    /// Shows other rows.
    mutating func scroll(by steps: Int) {
        offset += steps
        settle()
        cursor = offset
    }

    private mutating func settle() {
        offset = max(0, min(offset, count - height))
        cursor = clamped(cursor)
    }

    private func clamped(_ row: Int) -> Int { max(0, min(row, count - 1)) }
}
