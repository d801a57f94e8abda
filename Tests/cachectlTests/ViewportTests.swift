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

    @Test func selectedAndVisibleRowsStayInPlaceWhenOthersChange() {
        var rows = Viewport()
        let before = (0..<100).map(String.init)
        rows.resized(height: 10)
        rows.counted(100)
        rows.moveCursor(by: 55)
        #expect(rows.range == 46..<56)
        var after = before.filter { Int($0)! >= 7 }
        rows.follow(from: before, to: after)
        #expect(rows.cursor == 48 && rows.range == 39..<49)
        // If the selected row is gone, the next one that remains is selected.
        let last = after
        after.removeAll { ["55", "56"].contains($0) }
        rows.follow(from: last, to: after)
        #expect(after[rows.cursor] == "57")
    }

    @Test func theStartOfAListStaysUntilARowIsSelected() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(3)
        rows.follow(from: ["a", "b", "c"], to: ["n", "a", "b", "c"])
        #expect(rows.cursor == 0)
        rows.moveCursor(by: 1)
        rows.follow(from: ["n", "a", "b", "c"], to: ["n", "m", "a", "b", "c"])
        #expect(rows.cursor == 2 && rows.offset == 0)
        rows.moveCursor(by: -.max / 2)
        rows.follow(from: ["n", "m"], to: ["o", "n", "m"])
        #expect(rows.cursor == 0)
    }

    @Test func aRowOfTheScreenIsSelected() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(15)
        rows.moveCursor(by: 14)
        #expect(rows.select(onScreen: 2) && rows.cursor == 7)
        #expect(!rows.select(onScreen: 10) && !rows.select(onScreen: -1) && rows.cursor == 7)
    }

    @Test func selectedRowStaysVisible() {
        var rows = Viewport()
        rows.resized(height: 20)
        rows.counted(100)
        rows.moveCursor(by: 15)
        rows.resized(height: 5)
        #expect(rows.cursor == 15 && rows.range == 11..<16)
    }

    @Test func shrinkingListFillsTheScreen() {
        var rows = Viewport()
        rows.resized(height: 10)
        rows.counted(100)
        rows.moveCursor(by: 90)
        rows.counted(12)
        #expect(rows.range == 2..<12)
        rows.counted(0)
        #expect(rows.range.isEmpty && rows.cursor == 0)
        rows.resized(height: -1)
        #expect(rows.range.isEmpty)
    }
}
