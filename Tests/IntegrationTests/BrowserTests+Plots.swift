import Foundation
import TestSupport
import Testing

/// The plots and areas of the state of things, under the pointer.
extension BrowserTests {
    /// What the plots show at a moment.
    private struct Plots: Decodable {
        /// The line under the pointer in each plot, empty if there is none.
        var crosses: [String]
        var values: [String]
        /// The time at the pointer, in seconds before now, by the text about it.
        var ago: Double?
    }

    @Test func aLineUnderThePointerGoesThroughAllPlots() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let hosts = ["a.localhost": 30_000, "b.localhost": 60_000, "c.localhost": 120_000]
            let daemon = try await DaemonFixture.start(in: scope)
            for (number, (host, bytes)) in hosts.enumerated() {
                let image = SampleImage.png(
                    width: 60, height: 60, byteCount: bytes, seed: number * 9)
                origin.route("/\(number).png", .answer(body: image))
                _ = try await daemon.fetch(origin.url("/\(number).png", host: host))
            }
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the list") { try await browser.report().count == "3 images" }
            try await browser.press("s")
            func plots() async throws -> Plots {
                try await browser.evaluate(
                    """
                    (() => {
                      const figures = [...document.querySelectorAll('#plots figure')]
                      const at = Date.parse(document.querySelector('#pointed').textContent)
                      return {
                        crosses: figures.map(figure => figure.querySelector('.cross').getAttribute('d') ?? ''),
                        values: figures.map(figure => figure.querySelector('figcaption span + span').textContent),
                        ago: Number.isNaN(at) ? null : (Date.now() - at) / 1000,
                      }
                    })()
                    """, as: Plots.self)
            }
            /// A place in a plot, from 0 to 1 of its width.
            func point(_ figure: Int, _ share: Double) async throws {
                let box = try await browser.evaluate(
                    """
                    (({ left, width, top, height }) => [left, width, top + height / 2])(
                      document.querySelectorAll('#plots figure svg')[\(figure)].getBoundingClientRect())
                    """, as: [Double].self)
                try await browser.point(x: box[0] + share * box[1], y: box[2])
            }
            let still = try await eventually("six plots") {
                let plots = try await plots()
                return plots.crosses.count == 6 && plots.values.allSatisfy { !$0.isEmpty }
                    ? plots : nil
            }
            #expect(still.ago == nil && still.crosses.allSatisfy(\.isEmpty))

            // A quarter of 24 hours is 30 of 120 values; nothing is known of that time.
            try await point(0, 0.255)
            let early = try await eventually("the line") {
                let plots = try await plots()
                return plots.ago != nil ? plots : nil
            }
            #expect(early.crosses == Array(repeating: "M30.5 0V40", count: 6))
            #expect(early.values == Array(repeating: "–", count: 6))
            let ago = try #require(early.ago)
            #expect(abs(ago - 0.745 * 86_400) < 1000)
            // Another plot moves it in all of them.
            try await point(4, 0.505)
            try await waitUntil("the line in the middle") {
                let plots = try await plots()
                return plots.crosses == Array(repeating: "M60.5 0V40", count: 6)
                    && abs((plots.ago ?? 0) - 0.495 * 86_400) < 1000
            }
            // It is there while somebody points, and no longer.
            try await browser.point(x: 640, y: 790)
            try await waitUntil("no line") {
                let plots = try await plots()
                return plots.ago == nil && plots.crosses.allSatisfy(\.isEmpty)
            }

            // The areas are as large as the bytes, and have no room between them.
            let areas = try await eventually("the areas") {
                let areas = try await browser.evaluate(
                    """
                    Object.fromEntries([...document.querySelectorAll('#hosts button')]
                      .map(({ textContent, style }) => [textContent, parseFloat(style.width) * parseFloat(style.height) / 100]))
                    """, as: [String: Double].self)
                return areas.count == 3 ? areas : nil
            }
            for (host, bytes) in hosts {
                #expect(abs((areas[host] ?? 0) - 100 * Double(bytes) / 210_000) < 0.1)
            }
            try await browser.perform(
                "[...document.querySelectorAll('#hosts button')].find(area => area.textContent === 'b.localhost').click()"
            )
            try await waitUntil("the images of one host") {
                try await browser.report().count == "1 image"
            }
            #expect(try await browser.log().errors == [String]())
        }
    }
}
