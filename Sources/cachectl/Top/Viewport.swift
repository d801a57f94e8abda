/// The visible rows of a long list and the selected row. Pure.
///
/// The selected row is always visible.
struct Viewport: Hashable {
    /// Whether a row can be selected. If not, the first visible row stays in place when the size
    /// changes.
    var hasCursor = true
    /// The first visible row.
    private(set) var offset = 0
    /// The selected row.
    private(set) var cursor = 0
    /// The number of rows, and how many of them fit on the screen.
    private(set) var count = 0
    private(set) var height = 0

    /// The visible rows.
    var range: Range<Int> { offset..<min(count, offset + height) }

    mutating func resized(height: Int) {
        self.height = max(0, height)
        clamp()
    }

    /// The number of rows has changed.
    mutating func counted(_ count: Int) {
        self.count = count
        clamp()
    }

    /// The rows were reordered. `cursor` and `offset` are the new positions.
    mutating func moved(cursor: Int, offset: Int) {
        self.cursor = cursor
        self.offset = offset
        clamp()
    }

    /// Rows above the first visible one were removed. The visible rows stay in place.
    mutating func rowsRemoved(above removed: Int) {
        offset -= removed
        cursor -= removed
        clamp()
    }

    /// Selects another row. The screen follows.
    mutating func moveCursor(by steps: Int) {
        cursor += steps
        clamp()
    }

    /// Scrolls by `steps` rows.
    mutating func scroll(by steps: Int) {
        offset = max(0, min(offset + steps, count - height))
        cursor = offset
        clamp()
    }

    private mutating func clamp() {
        offset = max(0, min(offset, count - height))
        guard hasCursor else { return cursor = offset }
        cursor = max(0, min(cursor, count - 1))
        if cursor < offset { offset = cursor }
        if height > 0, cursor >= offset + height { offset = cursor - height + 1 }
    }
}
