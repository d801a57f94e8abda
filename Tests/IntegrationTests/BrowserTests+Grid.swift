import CacheWire
import Foundation
import TestSupport
import Testing

/// What surrounds the pictures of the grid: headings, the scroll bar, and the rectangle that selects.
extension BrowserTests {
    /// Images of three hosts, 40 of each.
    private func threeHosts(in scope: TestScope) async throws -> GalleryProgram {
        let origin = try ScriptedOrigin(in: scope)
        let daemon = try await DaemonFixture.start(in: scope)
        let urls = ["a", "b", "c"].flatMap { host in
            (0..<40).map { origin.url("/\(host)\($0).png", host: "\(host).localhost") }
        }
        for (number, url) in urls.enumerated() {
            let image = SampleImage.png(
                width: 200 + 37 * number % 200, height: 150, seed: number * 2)
            origin.route("/" + url.split(separator: "/").last!, .answer(body: image))
        }
        try await daemon.cachectl("fetch", "-", input: Array(urls.joined(separator: "\n").utf8))
        return try await GalleryProgram(daemon, in: scope)
    }

    private struct Heading: Decodable {
        var text: String
        /// The host of the first image under it.
        var host: String
        var isCovered: Bool
    }

    private static let headings = """
        (() => {
          const boxes = [...document.querySelectorAll('#rows .cell')]
            .map(element => ({ item: element.cell.item, box: element.getBoundingClientRect() }))
          return [...document.querySelectorAll('.heading')].map(heading => {
            const { top, bottom } = heading.getBoundingClientRect()
            const under = boxes.filter(({ box }) => box.top >= bottom - 1).sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left)[0]
            return {
              text: heading.textContent, host: under?.item ? new URL(under.item.url).hostname : '',
              isCovered: boxes.some(({ box }) => box.top < bottom - 1 && box.bottom > top + 1),
            }
          })
        })()
        """

    @Test func hostsAreHeadingsAndTheScrollBarNamesThem() async throws {
        try await withTestScope { scope in
            let gallery = try await threeHosts(in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address + "#order=host")
            let first = try await eventually("the first heading") {
                let headings = try await browser.evaluate(Self.headings, as: [Heading].self)
                let isWhole = try await browser.report().count == "120 images"
                return isWhole && headings.first?.text == "a.localhost" ? headings : nil
            }
            #expect(first.allSatisfy { $0.text == $0.host && !$0.isCovered })

            // The thumb is dragged to the end, and then to the middle.
            try await browser.drag([1275, 60], [1275, 795], letsGo: false)
            let label =
                "(label => label.checkVisibility() ? label.textContent : '')(document.querySelector('#scrubber b'))"
            try await waitUntil("the last host") {
                try await browser.evaluate(label, as: String.self) == "c.localhost"
            }
            try await waitUntil("the last image") {
                try await browser.report().cells.last?.title.hasPrefix("c") == true
            }
            try await browser.point(x: 1275, y: 420)
            try await waitUntil("the host of the first image on the screen") {
                let title = try await browser.report().cells.first?.title ?? ""
                let words = try await browser.evaluate(label, as: String.self)
                return title.hasPrefix("b") && words == "b.localhost"
            }
            try await browser.letGo()
            try await waitUntil("the end of the label") {
                try await browser.evaluate(label, as: String.self).isEmpty
            }
            let headings = try await browser.evaluate(Self.headings, as: [Heading].self)
            #expect(headings.allSatisfy { $0.text == $0.host && !$0.isCovered })

            // The keyboard passes the headings, and shows the one above a row that it reaches from below.
            try await browser.press("Home")
            for _ in 0..<40 { try await browser.press("ArrowDown") }
            try await waitUntil("the last row") {
                try await browser.report().cells.first(where: \.isActive)?.title.hasPrefix("c")
                    == true
            }
            for _ in 0..<40 { try await browser.press("ArrowUp") }
            try await waitUntil("the first row, under its heading") {
                try await browser.evaluate(
                    "document.querySelector('#scroller').scrollTop", as: Int.self)
                    == 0
            }
            #expect(try await browser.log().errors == [String]())
        }
    }

    /// The days of a list that no test can wait for.
    @Test func rowsUnderHeadingsAreJustifiedInWholePixels() async throws {
        try await withTestScope { scope in
            let gallery = try await GalleryProgram(DaemonFixture.start(in: scope), in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            let faults = try await browser.evaluate(
                """
                import('./layout.js').then(({ Layout, headingHeight }) => {
                  const faults = []
                  for (const width of [340, 1000, 1262]) {
                    const layout = new Layout()
                    layout.configure(width, 180)
                    layout.resize(5000)
                    // Days of 1 to 150 images; of some images the day is not known. The blocks become known in any order.
                    const days = Array.from({ length: 5000 }, (_, index) => Math.floor(Math.sqrt(index * (1 + index % 150 / 5000))))
                    days.sort((a, b) => a - b)
                    for (let step = 0; step < 50; step += 1) {
                      const block = step * 7 % 50
                      const place = index => block * 100 + index
                      layout.learn(block, Array.from({ length: 100 }, (_, index) => 0.5 + place(index) * 37 % 100 / 40),
                        index => place(index) % 13 === 5 ? undefined : `day ${days[place(index)]}`)
                    }
                    const rows = layout.rows(0, layout.height)
                    let [next, bottom, heading] = [0, 0, undefined]
                    for (const row of rows) {
                      const above = row.heading ? headingHeight : 0
                      if (row.first !== next) faults.push(`${row.first} follows ${next}`)
                      if (row.top - above < bottom) faults.push(`${row.first} covers the row before`)
                      if (row.heading && row.heading === heading) faults.push(`${heading} twice`)
                      heading = row.heading ?? heading
                      for (const [column, tile] of row.tiles.entries()) {
                        const index = row.first + column
                        const edge = tile.left + tile.width
                        if (![row.top, row.height, tile.left, tile.width].every(Number.isInteger)) faults.push(`${index} has parts of pixels`)
                        if (edge > width) faults.push(`${index} ends at ${edge}`)
                        if (index % 13 !== 5 && heading !== `day ${days[index]}`) faults.push(`${index} is under ${heading}`)
                        const place = layout.place(index)
                        if (place.top !== row.top || place.left !== tile.left || place.above !== above) faults.push(`${index} has two places`)
                        if (layout.index(tile.left + tile.width / 2, row.top + 1) !== index) faults.push(`${index} is not found`)
                      }
                      next = row.first + row.tiles.length
                      bottom = row.top + row.height
                    }
                    if (next !== 5000) faults.push(`${next} images`)
                    // From each row, the next one is found below and above.
                    for (const [number, row] of rows.entries()) {
                      const [above, below] = [rows[number - 1], rows[number + 1]]
                      if (below && layout.index(0, row.top + row.height + 5, 1) !== below.first) faults.push(`nothing below ${row.first}`)
                      if (above && layout.index(0, row.top - 5, -1) !== above.first) faults.push(`nothing above ${row.first}`)
                    }
                  }
                  return faults.slice(0, 20)
                })
                """, as: [String].self)
            #expect(faults == [])
        }
    }

    private struct Lasso: Decodable {
        /// The names of the images that meet the rectangle, and of those that are selected.
        var inside: [String]
        var selected: [String]
        var isDrawn: Bool
    }

    @Test func aRectangleOverEmptyRoomSelects() async throws {
        try await withTestScope { scope in
            let gallery = try await threeHosts(in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address + "#order=host&q=a.localhost")
            try await waitUntil("the pictures of one host") {
                let report = try await browser.report()
                return report.count == "40 images" && report.count("picture") == report.cells.count
            }
            func lasso(_ start: [Double], _ end: [Double]) async throws -> Lasso {
                try await browser.evaluate(
                    """
                    (() => {
                      const [left, right] = [\(start[0]), \(end[0])].sort((a, b) => a - b)
                      const [top, bottom] = [\(start[1]), \(end[1])].sort((a, b) => a - b)
                      const names = cells => cells.map(cell => cell.querySelector('.title').textContent).sort()
                      const cells = [...document.querySelectorAll('#rows .cell.seen')]
                      return {
                        inside: names(cells.filter(cell => {
                          const box = cell.getBoundingClientRect()
                          return box.left < right && box.right > left && box.top < bottom && box.bottom > top
                        })),
                        selected: names(cells.filter(cell => cell.matches('.selected'))),
                        isDrawn: document.querySelector('.lasso') !== null,
                      }
                    })()
                    """, as: Lasso.self)
            }
            // From the heading into the second row.
            let (start, end) = ([900.0, 70.0], [400.0, 330.0])
            try await browser.drag(start, end, letsGo: false)
            let held = try await lasso(start, end)
            #expect(held.isDrawn && held.inside.count >= 4)
            #expect(held.selected == held.inside)
            try await browser.letGo()
            try await waitUntil("the end of the rectangle") {
                try await !lasso(start, end).isDrawn
            }
            let first = try await lasso(start, end)
            #expect(first.selected == first.inside)
            // Another one beside it.
            try await browser.key("Control", isDown: true)
            try await browser.drag([30, 70], [60, 110])
            try await browser.key("Control", isDown: false)
            let both = try await lasso([30, 70], [60, 110])
            #expect(both.inside.count == 1)
            #expect(Set(both.selected) == Set(first.selected + both.inside))
            // A click on empty room ends the selection.
            try await browser.drag([900, 70])
            try await waitUntil("no selection") {
                try await lasso(start, end).selected.isEmpty
            }
            #expect(try await browser.report().drawer == nil)
            #expect(try await browser.log().errors == [String]())
        }
    }
}
