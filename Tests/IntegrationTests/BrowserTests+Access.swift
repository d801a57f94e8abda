import Foundation
import TestSupport
import Testing

/// The page for people who hear it, or use no mouse.
extension BrowserTests {
    /// A daemon with pictures of two hosts, downloads that go on, and failures.
    private func everything(in scope: TestScope) async throws -> (GalleryProgram, Gate, [String]) {
        let origin = try ScriptedOrigin(in: scope)
        let daemon = try await DaemonFixture.start(in: scope)
        let urls = ["a", "b"].flatMap { host in
            (0..<40).map { origin.url("/\(host)\($0).png", host: "\(host).localhost") }
        }
        for (number, url) in urls.enumerated() {
            let image = SampleImage.png(width: 320, height: 200, seed: number * 3)
            // Some are stale.
            let age = number.isMultiple(of: 3) ? 0 : 900
            origin.route(
                "/" + url.split(separator: "/").last!,
                .answer(headers: ["Cache-Control": "max-age=\(age)"], body: image))
        }
        try await daemon.cachectl("fetch", "-", input: Array(urls.joined(separator: "\n").utf8))
        try await daemon.cachectl("pin", urls[1])
        let gate = try Gate()
        let coming = (0..<9).map { origin.url("/slow-\($0).png") }
        for (number, url) in coming.enumerated() {
            let image = SampleImage.png(width: 700, height: 350, byteCount: 300_000, seed: number)
            origin.route("/" + url.split(separator: "/").last!, .gated(image, after: 120_000, gate))
        }
        let pasted = coming + (0..<12).map { origin.url("/missing-\($0).png", host: "c.localhost") }
        return (try await GalleryProgram(daemon, in: scope), gate, pasted)
    }

    @Test(
        .enabled("needs axe-playwright-python (`.ci/python-clients`)") {
            try await BrowserDriver.isInstalled(with: "axe_playwright_python")
        }, arguments: ["light", "dark"])
    func axeFindsNothing(scheme: String) async throws {
        try await withTestScope { scope in
            let (gallery, gate, pasted) = try await everything(in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address + "#order=host", scheme: scheme)
            func isThere(_ selector: String) async throws -> Bool {
                try await browser.evaluate(
                    "document.querySelector('\(selector)')?.checkVisibility() ?? false",
                    as: Bool.self)
            }
            func expectNothing(_ part: String) async throws {
                let found = try await browser.axe()
                #expect(found == [], "\(part)")
            }
            try await waitUntil("the pictures") {
                let report = try await browser.report()
                return report.count == "80 images" && report.count("picture") == report.cells.count
            }
            for selector in ["#rows .heading", "#scrubber"] {
                #expect(try await isThere(selector), "\(selector)")
            }
            try await expectNothing("headings and the scroll bar")
            try await browser.drag([1275, 60], [1275, 500], letsGo: false)
            try await expectNothing("the label of the scroll bar")
            try await browser.letGo()

            try await browser.paste(pasted.joined(separator: "\n"), as: "text/plain")
            try await waitUntil("downloads and failures") {
                let report = try await browser.report()
                return report.count("ring") == 9 && report.failures.count == 1
            }
            try await expectNothing("the shelf and the notice")
            try await browser.press("d", "Home", "x")
            #expect(try await isThere("#selection"))
            try await expectNothing("the selection")
            try await browser.press("Escape", "i")
            try await waitUntil("the details") {
                try await browser.report().drawer?.contains("SHA-256") == true
            }
            try await expectNothing("the details")
            try await browser.press("Escape", "Enter")
            try await waitUntil("the viewer") { try await isThere("#viewer .transparent") }
            try await expectNothing("the viewer")
            try await browser.press("Escape", "s")
            try await waitUntil("the figures") { try await isThere("#hosts button") }
            try await expectNothing("the state")
            for (key, dialog) in [("a", "#add"), ("?", "#keys")] {
                try await browser.press(key)
                #expect(try await isThere(dialog))
                try await expectNothing(dialog)
                try await browser.press("Escape")
            }
            gate.open()
            #expect(try await browser.log().errors == [String]())
        }
    }

    /// A window, and what the person before it prefers.
    struct Look: Sendable, CustomTestStringConvertible {
        var width: Int
        var scale = 1
        var scheme = "light"
        var motion = "no-preference"
        var colors = "none"

        var testDescription: String { "\(width) × \(scale), \(scheme), \(motion), \(colors)" }

        static let all = [
            Look(width: 390, scale: 2), Look(width: 390, scheme: "dark", motion: "reduce"),
            Look(width: 1024, scheme: "dark"), Look(width: 1024, colors: "active"),
            Look(width: 1440), Look(width: 1440, scale: 2, motion: "reduce", colors: "active"),
            // 1,440 pixels at 200 % are 720.
            Look(width: 720, scale: 2),
        ]
    }

    /// What of the page lies outside of its window, what is cut off, and which light is a lie.
    private static let faults = """
        (() => {
          const faults = []
          const isShown = element => element.checkVisibility() && element.getClientRects().length > 0
          if (document.documentElement.scrollWidth > innerWidth) faults.push('the page scrolls sideways')
          for (const part of document.querySelectorAll('header *, #work *, #failures *, .heading, #drawer')) {
            const { left, right } = part.getBoundingClientRect()
            if (isShown(part) && (left < -1 || right > innerWidth + 1)) faults.push(`${part.id || part.className || part.tagName} leaves the window`)
          }
          for (const menu of document.querySelectorAll('header select, header button')) {
            if (isShown(menu) && menu.scrollWidth > menu.clientWidth + 1) faults.push(`${menu.name || menu.id} is cut off`)
          }
          const coming = ['connecting', 'receiving', 'unmeasured', 'deriving', 'publishing', 'unknown', 'cached']
          for (const cell of document.querySelectorAll('.cell.lit')) {
            if (!coming.includes(cell.dataset.state)) faults.push(`${cell.dataset.state} is lit`)
            if (cell.matches('.pictured')) faults.push('a picture is lit')
          }
          for (const cell of document.querySelectorAll('.cell')) {
            const { left, width, top, height } = cell.getBoundingClientRect()
            if (isShown(cell) && [left, width, top, height].some(part => Math.abs(part * devicePixelRatio - Math.round(part * devicePixelRatio)) > 0.01)) faults.push(`parts of pixels: ${[left, width, top, height]}`)
          }
          return [...new Set(faults)]
        })()
        """

    @Test(arguments: Look.all)
    func everyWindowShowsAllAndLightsOnlyWhatComes(look: Look) async throws {
        try await withTestScope { scope in
            let (gallery, gate, pasted) = try await everything(in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(
                gallery.address, width: look.width, height: 900, scheme: look.scheme,
                motion: look.motion, colors: look.colors, scale: look.scale,
                touch: look.width < 600)
            try await waitUntil("the pictures") {
                let report = try await browser.report()
                return report.count == "80 images" && report.count("picture") == report.cells.count
            }
            try await browser.paste(pasted.joined(separator: "\n"), as: "text/plain")
            try await waitUntil("downloads and failures") {
                let report = try await browser.report()
                return report.count("ring") > 0 && report.failures.count == 1
                    && report.work?.hasSuffix("3 queued") == true
            }
            let crowded = try await browser.evaluate(Self.faults, as: [String].self)
            #expect(crowded == [])
            // Pictures that have just come fade in.
            if look.colors == "none" {
                try await waitUntil("light in lit tiles alone") { try await browser.leaks() == 0 }
            }
            // The places in the queue: six of one host run.
            let queued = try await browser.report().cells.filter { $0.state == "queued" }
            #expect(queued.map(\.percent) == Array(["1", "2", "3"].prefix(queued.count)))
            gate.open()
            try await waitUntil("all pictures") { try await browser.report().work == nil }
            let still = try await browser.evaluate(Self.faults, as: [String].self)
            #expect(still == [])
            #expect(try await browser.log().errors == [String]())
        }
    }
}
