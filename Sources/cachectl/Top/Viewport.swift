/// The visible rows of a long list and the selected row. Pure.
///
/// The selected row is always visible.
struct Viewport: Hashable {
    /// The first visible row.
    private(set) var offset = 0
    /// The selected row.
    private(set) var cursor = 0
    /// The number of rows, and how many of them fit on the screen.
    private(set) var count = 0
    private(set) var height = 0
    /// Whether the user has selected a row. Until then it is the first one, whichever that is.
    private var isHeld = false

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

    /// The rows have changed. The selected one and the first one on the screen keep their places.
    /// If either is gone, the next one that remains takes its place. A screen that shows the start
    /// of the list goes on showing it.
    ///
    /// - Parameters:
    ///   - before: what identified the rows until now.
    ///   - after: what identifies them from now on.
    mutating func follow<Before, After>(from before: Before, to after: After)
    where
        Before: RandomAccessCollection<String>, Before.Index == Int,
        After: RandomAccessCollection<String>, After.Index == Int
    {
        count = after.count
        defer { clamp() }
        guard isHeld else { return }
        let rows = [cursor] + (offset > 0 ? [offset] : [])
        let isSame = rows.allSatisfy {
            before.indices.contains($0) && after.indices.contains($0) && before[$0] == after[$0]
        }
        guard !isSame else { return }
        let places = Dictionary(
            after.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        func place(of row: Int) -> Int {
            guard before.indices.contains(row) else { return row }
            return before[row...].lazy.compactMap { places[$0] }.first ?? row
        }
        cursor = place(of: cursor)
        if offset > 0 { offset = place(of: offset) }
    }

    /// Selects another row. The screen follows.
    mutating func moveCursor(by steps: Int) {
        cursor += steps
        clamp()
        isHeld = cursor > 0
    }

    /// Scrolls by `steps` rows. The selected row keeps its place on the screen.
    mutating func scroll(by steps: Int) {
        offset = max(0, min(offset + steps, count - height))
        moveCursor(by: steps)
    }

    /// Selects a row of the screen, 0 for the first. Returns whether there is one.
    mutating func select(onScreen row: Int) -> Bool {
        guard range.contains(offset + row), row >= 0 else { return false }
        cursor = offset + row
        isHeld = true
        return true
    }

    private mutating func clamp() {
        offset = max(0, min(offset, count - height))
        cursor = max(0, min(cursor, count - 1))
        if cursor < offset { offset = cursor }
        if height > 0, cursor >= offset + height { offset = cursor - height + 1 }
    }
}
