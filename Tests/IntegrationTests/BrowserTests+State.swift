import CacheWire
import Foundation
import TestSupport
import Testing

/// The texts of the page: the states of images and the details of a failure.
extension BrowserTests {
    @Test func theDetailsOfAFailureSayWhenItsOriginIsAskedAgain() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            origin.route("/busy.png", .answer(503, headers: ["Retry-After": "40"]))
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the empty cache") {
                try await browser.report().count == "0 images"
            }
            try await browser.paste(origin.url("/busy.png"), as: "text/plain")
            try await waitUntil("the failure") {
                try await browser.report().failures.first?.contains("503") == true
            }
            try await browser.click("#failures .link")
            let first = try await eventually("the time of the next attempt") {
                let text = try await browser.report().drawer ?? ""
                return text.firstMatch(of: /Next attempt\s+not before .*, in (\d+) seconds/)
                    .flatMap { Int($0.1) }
            }
            #expect((1...40).contains(first))
            let retryAt = try await daemon.status(origin.url("/busy.png")).failure?.retryAt
            #expect(try abs(#require(retryAt) - time(nil) - first) <= 2)
            try await waitUntil("the countdown") {
                let text = try await browser.report().drawer ?? ""
                return text.contains("in \(first - 2) seconds")
            }
            #expect(try await browser.log().errors == [String]())
        }
    }

    @Test func thePlotsFollowALoad() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let count = 400
            for number in 0..<count {
                let image = SampleImage.png(
                    width: 60, height: 40, byteCount: 60_000, seed: number % 250)
                origin.route("/\(number).png", .answer(body: image))
            }
            // Too little for all, so that images are evicted all the time.
            let daemon = try await DaemonFixture.start(
                ["--max-bytes", "3MB", "--min-free", "0"], in: scope)
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            // Only the plots move: no image is on the screen.
            try await browser.press("/")
            try await browser.type("no such image")
            try await waitUntil("the filter") {
                try await browser.report().count == "0 images"
            }
            try await browser.click("#show-state")
            let load = Task {
                for number in 0... {
                    try Task.checkCancellation()
                    let url = origin.url("/\(number % count).png")
                    _ = try await daemon.fetch(url)
                    _ = try await daemon.fetch(url)
                }
            }
            defer { load.cancel() }
            try await browser.perform(
                "const span = document.querySelector('#span'); span.value = '120'; span.dispatchEvent(new Event('change'))"
            )
            let titles = ["Received", "Hits", "Misses", "Evicted"]
            func plots() async throws -> [Plot] {
                try await browser.plots().filter { titles.contains($0.title) }
            }
            try await waitUntil("four plots that move") {
                let plots = try await plots()
                return plots.map(\.title) == titles && plots.allSatisfy { $0.steps >= 4 }
                    && plots.allSatisfy { !$0.isIdle }
            }
            let usage = try await browser.usage(seconds: 3)
            let drawn = try await browser.frames(seconds: 3)
            print("gallery: plots under load \(drawn.frames) frames in 3 s, \(usage) ms/s")
            #expect(drawn.frames > 0 && drawn.frames <= 120)
            load.cancel()
            _ = await load.result
            // The rates fall to zero, and the drawn curves stay.
            try await waitUntil("plots at rest") {
                try await plots().allSatisfy { $0.isIdle && $0.steps >= 4 }
            }
            #expect(try await browser.log().errors == [String]())
        }
    }

    /// The list comes late because the daemon stands still.
    @Test func aSearchBeforeTheListIsThereKeepsTheFocus() async throws {
        try await withTestScope { scope in
            let daemon = try await DaemonFixture.start(in: scope)
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            daemon.process.signal(SIGSTOP)
            scope.atEnd { daemon.process.signal(SIGCONT) }
            try await browser.open(gallery.address)
            try await browser.press("/")
            daemon.process.signal(SIGCONT)
            try await waitUntil("the list") { try await browser.report().count == "0 images" }
            // In the list the first letter would open a dialog.
            try await browser.type("as")
            let field = try await browser.evaluate(
                "document.querySelector('#filters').elements.contains.value", as: String.self)
            #expect(field == "as")
        }
    }
}

/// A small plot in the state of things.
private struct Plot: Decodable {
    let title: String
    /// The rate now, in words.
    let rate: String
    /// The number of different heights.
    let steps: Int

    var isIdle: Bool { ["0 B/s", "0.0/s"].contains(rate) }
}

extension BrowserDriver {
    fileprivate func plots() async throws -> [Plot] {
        try await evaluate(
            """
            [...document.querySelectorAll('#plots figure')].map(figure => {
              const [title, rate] = [...figure.querySelectorAll('figcaption span')].map(part => part.textContent)
              return { title, rate, steps: figure.querySelector('path').getAttribute('d')?.split('V').length ?? 0 }
            })
            """, as: [Plot].self)
    }
}
