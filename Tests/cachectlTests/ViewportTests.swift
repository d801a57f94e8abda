import Testing

@testable import cachectl

@Suite struct ViewportTests {
    @Test func screenFollowsTheSelectedRow() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(100)
        rows.moveCursor(by: 12)
        #expect(rows.cursor == 12 && rows.range == 3..<13)
        rows.moveCursor(by: -10)
        #expect(rows.cursor == 2 && rows.range == 2..<12)
        rows.moveCursor(by: .max / 2)
        #expect(rows.cursor == 99 && rows.range == 90..<100)
        rows.moveCursor(by: -.max / 2)
        #expect(rows.cursor == 0 && rows.range == 0..<10)
    }

    @Test func visibleRowsStayInPlaceWhenOthersAreRemoved() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(100)
        rows.scroll(by: 50)
        rows.rowsRemoved(above: 7)
        rows.counted(93)
        #expect(rows.range == 43..<53)
    }

    @Test func selectedRowStaysVisible() {
        var rows = Viewport()
        rows.resized(height: 20)
        rows.counted(100)
        rows.moveCursor(by: 15)
        rows.resized(height: 5)
        #expect(rows.cursor == 15 && rows.range == 11..<16)
        rows.moved(cursor: 40, offset: 12)
        #expect(rows.cursor == 40 && rows.range == 36..<41)
        rows.moved(cursor: 3, offset: 12)
        #expect(rows.cursor == 3 && rows.range == 3..<8)
    }

    @Test func withoutASelectionTheFirstRowStays() {
        var rows = Viewport(hasCursor: false)
        rows.resized(height: 20)
        rows.counted(100)
        rows.scroll(by: 90)
        rows.resized(height: 5)
        #expect(rows.range == 80..<85)
    }

    @Test func shrinkingListFillsTheScreen() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(100)
        rows.scroll(by: 90)
        rows.counted(12)
        #expect(rows.range == 2..<12)
        rows.counted(0)
        #expect(rows.range.isEmpty && rows.cursor == 0)
        rows.resized(height: -1)
        #expect(rows.range.isEmpty)
    }
}
