import CacheWire
import Foundation
import TestSupport
import Testing

/// Looking at pictures: the grid, the viewer, the address, and many images at once.
extension BrowserTests {
    /// A daemon with some pictures, and the page that shows them.
    private func pictures(
        _ count: Int, _ name: (Int) -> String = { "\($0).png" }, in scope: TestScope
    ) async throws -> (daemon: DaemonFixture, gallery: GalleryProgram, urls: [String]) {
        let origin = try ScriptedOrigin(in: scope)
        let daemon = try await DaemonFixture.start(in: scope)
        let urls = (0..<count).map { origin.url("/\(name($0))") }
        for (number, url) in urls.enumerated() {
            let image = SampleImage.png(
                width: 400 + 10 * (number % 30), height: 300, seed: number * 3)
            origin.route(
                String(url.dropFirst(origin.url("").count)),
                .answer(headers: ["Cache-Control": "max-age=900"], body: image))
        }
        try await daemon.cachectl("fetch", "-", input: Array(urls.joined(separator: "\n").utf8))
        return (daemon, try await GalleryProgram(daemon, in: scope), urls)
    }

    private func opened(
        _ address: String, _ count: Int, in scope: TestScope
    ) async throws -> BrowserDriver {
        let browser = try await BrowserDriver(in: scope)
        try await browser.open(address)
        try await waitUntil("\(count) images") {
            let report = try await browser.report()
            return report.count == "\(count) \(count == 1 ? "image" : "images")"
                && report.count("picture") == report.cells.count
        }
        return browser
    }

    @Test func theViewerAndTheFilterAreInTheAddress() async throws {
        try await withTestScope { scope in
            let (_, gallery, urls) = try await pictures(12, in: scope)
            let browser = try await opened(gallery.address, 12, in: scope)
            let titles = try await browser.report().cells.map(\.title)
            func viewed() async throws -> String {
                try await browser.evaluate(
                    "document.querySelector('#viewer').open ? document.querySelector('#viewer-title').textContent : ''",
                    as: String.self)
            }
            func address() async throws -> String {
                try await browser.evaluate("location.hash", as: String.self)
            }
            try await browser.press("ArrowRight", "Enter")
            #expect(try await viewed() == titles[1])
            #expect(try await address().contains("image="))
            try await browser.press("ArrowRight")
            #expect(try await viewed() == titles[2])
            // The original is shown.
            try await waitUntil("the original") {
                try await browser.evaluate(
                    "document.querySelector('#stage img').src.includes('/image/')", as: Bool.self)
            }
            try await browser.perform("history.back()")
            try await waitUntil("the end of the viewer") { try await viewed().isEmpty }
            #expect(try await address().isEmpty)
            #expect(try await browser.report().cells.first(where: \.isActive)?.title == titles[2])

            try await browser.choose("largest", in: "[name=order]")
            try await waitUntil("the order") { try await address() == "#order=largest" }
            try await browser.press("/")
            try await browser.type("1.png")
            try await waitUntil("the filter") {
                try await browser.report().count == "2 images"
            }
            let filtered = try await eventually("the filter in the address") {
                let address = try await address()
                return address.contains("q=1.png") && address.contains("order=largest")
                    ? address : nil
            }
            // It can be sent to somebody, and loaded again.
            try await browser.open(gallery.address + filtered)
            try await waitUntil("the same list") {
                try await browser.report().count == "2 images"
            }
            #expect(
                try await browser.evaluate(
                    "document.querySelector('[name=order]').value", as: String.self) == "largest")
            #expect(urls.count == 12)
            #expect(try await browser.log().errors == [String]())
        }
    }

    @Test func thePictureBeforeARefreshIsSeenWhileAKeyIsHeld() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let url = origin.url("/a.png")
            origin.route(
                "/a.png", .answer(body: SampleImage.png(width: 400, height: 300, seed: 90)))
            let daemon = try await DaemonFixture.start(in: scope)
            _ = try await daemon.fetch(url)
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await opened(gallery.address, 1, in: scope)
            /// The widths of the pictures that are seen.
            func widths() async throws -> [Int] {
                try await browser.evaluate(
                    """
                    [...document.querySelectorAll('#stage img')]
                      .filter(image => getComputedStyle(image).visibility === 'visible').map(image => image.naturalWidth)
                    """, as: [Int].self)
            }
            func note() async throws -> String {
                try await browser.evaluate(
                    "document.querySelector('#viewer-note').textContent", as: String.self)
            }
            func isOffered() async throws -> Bool {
                try await browser.evaluate(
                    "document.querySelector('#viewer-before').checkVisibility()", as: Bool.self)
            }
            try await browser.press("Enter")
            try await waitUntil("the picture") { try await widths() == [400] }
            #expect(try await !isOffered())
            // A key that has nothing to show changes nothing.
            try await browser.press("b")
            #expect(try await widths() == [400])
            #expect(try await !note().contains("Before"))

            origin.route(
                "/a.png", .answer(body: SampleImage.png(width: 500, height: 300, seed: 180)))
            try await browser.press("r")
            try await waitUntil("the new picture") {
                let isOffered = try await isOffered()
                return try await widths() == [500] && isOffered
            }
            #expect(try await note().contains("500 × 300"))
            try await browser.key("b", isDown: true)
            #expect(try await widths() == [400])
            #expect(try await note().hasPrefix("Before the refresh"))
            try await browser.key("b", isDown: false)
            #expect(try await widths() == [500])
            // The button does the same.
            let button = try await browser.evaluate(
                """
                (({ left, top, width, height }) => [left + width / 2, top + height / 2])(
                  document.querySelector('#viewer-before').getBoundingClientRect())
                """, as: [Double].self)
            try await browser.drag(button, letsGo: false)
            #expect(try await widths() == [400])
            try await browser.letGo()
            #expect(try await widths() == [500])
            // The tile has the new picture too. Nothing of the one before stays after the end.
            try await browser.press("Escape")
            try await waitUntil("the new tile") {
                try await browser.evaluate(
                    "document.querySelector('#rows .cell img').naturalWidth", as: Int.self) == 500
            }
            try await browser.press("Enter")
            try await waitUntil("the picture") { try await widths() == [500] }
            #expect(try await !isOffered())
            #expect(try await browser.log().errors == [String]())
        }
    }

    @Test func resizingAndDetailsEmptyNoTileAndKeepThePlace() async throws {
        try await withTestScope { scope in
            let (_, gallery, _) = try await pictures(150, in: scope)
            let browser = try await opened(gallery.address, 150, in: scope)
            try await browser.perform("document.querySelector('#scroller').scrollTop = 1500")
            // The keyboard goes to an image in the middle of the screen, once the rows there are laid out.
            try await waitUntil("an image in the middle") {
                try await browser.evaluate(
                    """
                    (() => {
                      const scroller = document.querySelector('#scroller')
                      scroller.focus()
                      const box = scroller.getBoundingClientRect()
                      const off = cell => {
                        const { left, width, top, height } = cell.getBoundingClientRect()
                        return Math.hypot(left + width / 2 - box.width / 2, top + height / 2 - box.top - box.height / 2)
                      }
                      // The nearest, because the middle itself can lie between two cells.
                      const cell = [...document.querySelectorAll('.cell.seen')].sort((a, b) => off(a) - off(b))[0]
                      cell?.click()
                      return Boolean(cell)
                    })()
                    """, as: Bool.self)
            }
            try await browser.press("Escape")
            let before = try await eventually("pictures further down") {
                let report = try await browser.report()
                return report.count("picture") == report.cells.count && report.drawer == nil
                    && report.cells.contains(where: \.isActive) ? report : nil
            }
            // Watches for a tile without its picture.
            try await browser.perform(
                """
                window.emptied = 0
                const look = () => {
                  window.emptied = Math.max(window.emptied, document.querySelectorAll('.cell.seen:not(.pictured)').length)
                  requestAnimationFrame(look)
                }
                window.kept = [...document.querySelectorAll('.cell.seen img')]
                look()
                """)
            try await browser.press("i")
            try await waitUntil("the details") {
                try await browser.report().drawer?.contains("SHA-256") == true
            }
            let with = try await browser.report()
            #expect(with.cells.map(\.width) == before.cells.map(\.width))
            #expect(
                try await browser.evaluate(
                    "window.emptied + window.kept.filter(image => !image.isConnected).length",
                    as: Int.self) == 0)
            try await browser.press("Escape")
            // Larger rows: the first picture stays on the screen.
            let first = try await browser.report().cells[0].title
            for _ in 0..<5 { try await browser.press("]") }
            try await waitUntil("larger rows") {
                let report = try await browser.report()
                return report.cells.contains { $0.height > 230 }
                    && report.cells.contains { $0.title == first }
            }
        }
    }

    @Test func manyImagesArePinnedAndRemovedAndThatIsUndone() async throws {
        try await withTestScope { scope in
            let (daemon, gallery, urls) = try await pictures(6, in: scope)
            let browser = try await opened(gallery.address, 6, in: scope)
            let titles = try await browser.report().cells.map(\.title)
            func url(_ title: String) -> String { urls.first { $0.hasSuffix("/\(title)") } ?? "" }
            try await browser.press("x", "Shift+ArrowRight", "Shift+ArrowRight")
            try await waitUntil("the selection") {
                try await browser.evaluate(
                    "document.querySelector('#selected').textContent", as: String.self
                ).hasPrefix("3 selected")
            }
            try await browser.press("p")
            try await waitUntil("the pins") {
                let report = try await browser.report()
                return report.cells.filter { $0.marks.contains("pinned") }.map(\.title)
                    == Array(titles[..<3])
            }
            for title in titles[..<3] {
                #expect(try await daemon.status(url(title), details: true).pinned == true)
            }
            try await browser.press("Home", "x", "Shift+ArrowRight")
            try await waitUntil("two of them") {
                try await browser.evaluate(
                    "document.querySelector('#selected').textContent", as: String.self
                ).hasPrefix("2 selected")
            }
            try await browser.press("Delete", "z")
            #expect(try await browser.report().notice.isEmpty)
            try await browser.press("End", "Delete")
            try await daemon.waitForState(.missing, of: url(titles[5]))
            // Only that one was removed, although the others would have been before.
            for title in titles[..<5] {
                #expect(try await daemon.status(url(title)).state == .cached)
            }
            try await waitUntil("the only call") {
                _ = try await browser.report()
                return try await browser.log().calls.count { $0.name == "remove" } == 1
            }
            #expect(try await browser.log().errors == [String]())
        }
    }

    @Test func namesAreShownAsBrowsersShowThem() async throws {
        try await withTestScope { scope in
            let names = [
                "%E5%86%99%E7%9C%9F.png", "%D7%90%D7%9C%D7%91.png", "a%E2%80%AEgnp.png", "%FF.png",
                "a%20b.png",
            ]
            let (_, gallery, _) = try await pictures(5, { names[$0] }, in: scope)
            let browser = try await opened(gallery.address, 5, in: scope)
            let titles = try await browser.report().cells.map(\.title)
            #expect(
                Set(titles) == ["写真.png", "אלב.png", "a%E2%80%AEgnp.png", "%FF.png", "a b.png"])
            #expect(
                try await browser.evaluate(
                    "[...document.querySelectorAll('.title')].every(title => title.tagName === 'BDI')",
                    as: Bool.self))
        }
    }

    @Test func anIconIsNotEnlargedAndAPhoneScrollsOnlyDown() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/icon.png", .answer(body: SampleImage.png(width: 16, height: 16)))
            origin.route("/wide.png", .answer(body: SampleImage.png(width: 3000, height: 100)))
            let daemon = try await DaemonFixture.start(in: scope)
            _ = try await daemon.fetch(origin.url("/icon.png"))
            _ = try await daemon.fetch(origin.url("/wide.png"))
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await opened(gallery.address, 2, in: scope)
            let sizes = try await browser.evaluate(
                "[...document.querySelectorAll('.cell img')].map(image => image.offsetWidth).sort((a, b) => a - b)",
                as: [Int].self)
            #expect(sizes[0] == 16 && sizes[1] > 300)
            try await browser.open(gallery.address, width: 390, height: 844, touch: true)
            try await waitUntil("both") { try await browser.report().count("picture") == 2 }
            try await browser.click("#show-state")
            let layout = try await browser.evaluate(
                """
                [document.documentElement.scrollWidth, document.querySelector('#state').scrollWidth,
                  Math.min(...[...document.querySelectorAll('body > header :is(button, select)')].map(part => part.offsetHeight)),
                  document.querySelector('header').offsetHeight]
                """, as: [Int].self)
            #expect(layout[0] == 390 && layout[1] <= 390)
            #expect(layout[2] >= 44 && layout[3] <= 127)
        }
    }

    @Test func thePictureGrowsWithItsBytes() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            let image = SampleImage.png(width: 700, height: 350, byteCount: 300_000)
            origin.route("/slow.png", .gated(image, after: 120_000, gate))
            let daemon = try await DaemonFixture.start(in: scope)
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the list") { try await browser.report().count == "0 images" }
            try await browser.paste(origin.url("/slow.png"), as: "text/plain")
            // The browser knows the size of the picture, whose head is here.
            try await waitUntil("what is here") {
                try await browser.evaluate(
                    "document.querySelector('.cell img.partial')?.naturalWidth ?? 0", as: Int.self)
                    == 700
            }
            let item = try await daemon.status(origin.url("/slow.png"))
            let web = WebClient(port: gallery.port)
            let path = "\(gallery.path)partial/\(item.key)"
            let part = try await web.request("GET", "\(path)?type=image/png")
            #expect(part.status == 200 && part.body == Array(image[..<120_000]))
            #expect(part.fields["content-type"] == "image/png")
            #expect(part.fields["cache-control"] == "no-store")
            // Nothing but a raster image is shown.
            let other = try await web.request("GET", "\(path)?type=image/svg%2Bxml")
            #expect(other.fields["content-type"] == "application/octet-stream")
            for query in ["", "?type=text/html"] {
                #expect(try await web.request("GET", path + query).status == 400)
            }
            gate.open()
            try await waitUntil("the picture") {
                let report = try await browser.report()
                return report.count("picture") == report.cells.count && report.work == nil
            }
            // A request that comes after the end gets the whole image, and for nothing no content: neither is an error.
            let whole = try await web.request("GET", "\(path)?type=image/png")
            #expect(whole.status == 200 && whole.body == image)
            try await daemon.cachectl("remove", item.url)
            #expect(try await web.request("GET", "\(path)?type=image/png").status == 204)
        }
    }
}
