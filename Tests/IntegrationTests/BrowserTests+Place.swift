import Foundation
import TestSupport
import Testing

/// Where the page is in the list.
extension BrowserTests {
    /// The name of the first image on the screen, and how many pixels it is from the top.
    private struct Place: Decodable, Equatable {
        var name: String
        var top: Int
    }

    private static let place = """
        (() => {
          const view = document.querySelector('#scroller').getBoundingClientRect()
          const boxes = [...document.querySelectorAll('#rows .cell')]
            .map(cell => ({ name: cell.querySelector('.title').textContent, box: cell.getBoundingClientRect() }))
            .filter(({ box }) => box.height > 0 && box.bottom > view.top + 1)
            .sort((a, b) => a.box.top - b.box.top || a.box.left - b.box.left)
          return boxes.slice(0, 1).map(({ name, box }) => ({ name, top: Math.round(box.top - view.top) }))
        })()
        """

    @Test func aReloadKeepsThePlace() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let urls = (0..<250).map { origin.url("/\($0).png") }
            for number in 0..<250 {
                let image = SampleImage.png(
                    width: 150 + 37 * number % 300, height: 150, seed: number)
                origin.route("/\(number).png", .answer(body: image))
            }
            let daemon = try await DaemonFixture.start(in: scope)
            try await daemon.cachectl("fetch", "-", input: Array(urls.joined(separator: "\n").utf8))
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the list") {
                try await browser.report().count == "250 images"
            }
            // The eighth place is at the end of the images that a page asks for first, so the list is too short at
            // first to be scrolled there; the last one is at the end of the list.
            for attempt in isLongForm ? Array(1...20) : [2, 8, 9, 20] {
                _ = try await browser.evaluate(
                    """
                    (scroller => { scroller.scrollTop = (scroller.scrollHeight - scroller.clientHeight) * \(attempt) / 21 })(document.querySelector('#scroller')) ?? 0
                    """, as: Int.self)
                // Above it there can be a wall of 4 pixels, and parts of pixels.
                let before = try await eventually("the first row") {
                    let place = try await browser.evaluate(Self.place, as: [Place].self)
                    return place.contains { $0.top <= 6 && !$0.name.isEmpty } ? place : nil
                }
                // At once: nothing waits for the end of the scrolling.
                try await browser.reload()
                do {
                    try await waitUntil("the place") {
                        try await browser.evaluate(Self.place, as: [Place].self) == before
                    }
                } catch {
                    let place = try await browser.evaluate(Self.place, as: [Place].self)
                    throw TestFailure("attempt \(attempt): \(place) in place of \(before)")
                }
            }
        }
    }
}
