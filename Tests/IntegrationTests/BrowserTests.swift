import CacheWire
import Foundation
import TestSupport
import Testing

/// The page of `cached-gallery` in a real browser, over the built programs.
@Suite(
    "Gallery in the browser", .serialized, .timeLimit(.minutes(5)),
    .enabled("needs chromium (`.ci/dependencies browser`) and playwright") {
        try await BrowserDriver.isInstalled()
    })
struct BrowserTests {
    @Test func ringsFillAndNothingIsDrawnForWhatIsOffTheScreen() async throws {
        try await withTestScope { scope in
            let slow = try SlowImages(12, in: scope)
            let cached = (0..<60).map { slow.origin.url("/here-\($0).png") }
            for (number, url) in cached.enumerated() {
                let image = SampleImage.png(width: 60, height: 40, seed: number * 4)
                slow.origin.route(
                    String(url.dropFirst(slow.origin.url("").count)), .answer(body: image))
            }
            let daemon = try await DaemonFixture.start(
                ["--max-transfers-per-host", "16"], in: scope)
            try await daemon.cachectl(
                "fetch", "-", input: Array(cached.joined(separator: "\n").utf8))
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("the pictures") {
                let report = try await browser.report()
                return report.count("picture") == report.cells.count && report.cells.count >= 40
            }
            #expect(try await !browser.report().isLit)

            // A page is pasted that names the images.
            let links = slow.urls.map { "<img src='\($0)'>" }.joined()
            try await browser.paste(links, as: "text/html")
            let coming = try await eventually("12 rings") {
                let report = try await browser.report()
                let isThere =
                    report.cells.count { $0.percent == "40 %" } == 11
                    && report.cells.contains(where: \.isTurning) && report.work == "0 of 12"
                return isThere ? report : nil
            }
            #expect(coming.isLit)
            #expect(coming.label.hasPrefix("slow-"))
            #expect(coming.spoken.contains("Downloads: 0 of 12"))
            // The place has the proportion of the image, whose head has arrived.
            let place = try #require(coming.cell("slow-3.png"))
            #expect(abs(place.width - 2 * place.height) <= 2)
            #expect(place.note == "120 kB of 300 kB")
            // The browser speaks of a change a little later than it draws it.
            let spoken = try await eventually("the ring is spoken") {
                let spoken = try await browser.accessibility()
                let isThere = spoken.contains {
                    $0.role == "progressbar" && $0.name.contains("slow-3.png")
                        && $0.value == "40"
                }
                return isThere ? spoken : nil
            }
            #expect(
                spoken.contains { $0.role == "gridcell" && $0.name.contains("here-") })
            let watched = try await browser.log().watched
            #expect(Set(slow.urls).isSubset(of: watched))
            #expect(watched.count == coming.cells.count)
            // The light is in the tiles, and nowhere else.
            #expect(
                coming.cells.filter(\.isLit).map(\.isInShelf) == .init(repeating: true, count: 12))
            #expect(try await browser.leaks() == 0)

            // The downloads become one line.
            try await browser.press("d", "End")
            try await waitUntil("the end of the light") {
                let report = try await browser.report()
                return !report.isLit && report.animations == 0
                    && report.cells.last?.look == "picture"
            }
            #expect(try await browser.report().work == "0 of 12")
            try await waitUntil("the end of the notice") {
                try await browser.report().notice.isEmpty
            }
            try await browser.settle()
            // Once more if something else, such as the collection of garbage, fell into the first time.
            var usage = try await browser.usage(seconds: 3)
            if usage > 20 { usage = try await browser.usage(seconds: 3) }
            let still = try await browser.frames(seconds: 5)
            print("gallery: scrolled off \(still.frames) frames, \(usage) ms/s")
            #expect(still.frames == 0)
            #expect(usage <= 20)

            try await browser.press("Home", "d")
            try await waitUntil("the tiles of the downloads") {
                let report = try await browser.report()
                return report.count("ring") == 12 && report.isLit
            }
            slow.gate.open()
            try await waitUntil("all pictures") {
                let report = try await browser.report()
                return report.count("picture") == report.cells.count && !report.isLit
                    && report.work == nil && report.label.isEmpty
                    && !report.cells.contains(where: \.isInShelf)
            }
            for url in slow.urls { #expect(slow.requests(url) == 1) }
            #expect(try await browser.log().errors == [String]())
        }
    }

    @Test func aHundredThousandImagesAreReached() async throws {
        try await withTestScope { scope in
            let count = 100_000
            var options = DaemonFixture.Options()
            options.directory = try TemporaryDirectory(inMemory: scope).file("cache")
            options.arguments = ["--max-bytes", "4GiB", "--min-free", "0"]
            try await runSuccessfully(
                BuiltProducts.program("cached-entries"),
                ["fill", options.directory!, "--count", "\(count)", "--bytes", "100"])
            let daemon = try await DaemonFixture.start(options, in: scope)
            try await daemon.waitForScan()
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            let screen = try await eventually("the first screen") {
                try await browser.evaluate(
                    "performance.getEntriesByName('first-screen')[0]?.startTime ?? null",
                    as: Double?.self)
            }
            try await waitUntil("the whole list") {
                try await browser.report().count == "100,000 images"
            }
            // The newest is first, so the oldest is last.
            let oldest = try await daemon.ask(
                call("List", parameters: #""order":"age","limit":1"#))
            let last = try #require(oldest.items.first).url.split(separator: "/").last
            try await browser.perform("document.querySelector('#scroller').focus()")
            try await browser.press("End")
            try await waitUntil("the last image") {
                let cell = try await browser.report().cells.last
                return cell?.title == last.map(String.init) && cell?.isActive == true
            }
            // The scroll bar alone reaches it too.
            try await browser.press("Home")
            try await browser.perform("document.querySelector('#scroller').scrollTop = 1e9")
            try await waitUntil("the last image by the scroll bar") {
                try await browser.report().cells.last?.title == last.map(String.init)
            }
            try await browser.perform(
                "{ const bar = document.querySelector('#scroller'); bar.scrollTop = bar.scrollHeight / 2 }"
            )
            try await waitUntil("the middle") {
                let report = try await browser.report()
                return report.cells.allSatisfy { !$0.title.isEmpty }
                    && report.cells.last?.title != last.map(String.init)
            }
            try await expectEveryRowOfALongerListIsReached(browser)
            let memory = try await browser.memory()
            print("gallery: first screen \(screen) ms, page \(memory / 1_000_000) MB")
            // A debug build, on a machine that does other things, gets more time.
            let isRelease =
                try await daemon.ask(call("Stats")).parameters?.stats?["build"] == "release"
            #expect(screen <= (isRelease ? 300 : 5000))
            #expect(memory <= 150_000_000)
            #expect(try await browser.log().errors == [String]())
        }
    }

    @Test func actionsByTheKeyboardAreSeenByTheDaemonAndARestartIsSurvived() async throws {
        try await withTestScope { scope in
            let slow = try SlowImages(3, in: scope)
            for number in 0..<3 {
                slow.origin.route(
                    "/\(number).png", .answer(body: SampleImage.png(width: 90, height: 90)))
            }
            let urls = (0..<3).map { slow.origin.url("/\($0).png") }
            var options = DaemonFixture.Options()
            options.socket = try TemporaryDirectory(in: scope).file("socket")
            var daemon = try await DaemonFixture.start(options, in: scope)
            for url in urls { _ = try await daemon.fetch(url) }
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address)
            try await waitUntil("three pictures") {
                try await browser.report().count("picture") == 3
            }
            try await browser.perform("document.querySelector('#scroller').focus()")

            // Pin, ask again, verify and remove, without the mouse.
            try await browser.move(to: "1.png")
            try await browser.press("i")
            try await waitUntil("the details") {
                let text = try await browser.report().drawer ?? ""
                return text.contains("SHA-256") && text.contains(urls[1])
                    && text.contains("Same content") && text.contains(urls[0])
            }
            try await browser.press("p")
            let connection = try daemon.connect()
            try await waitUntil("the pin") {
                let message = call("Status", [urls[1]], parameters: #""details":true"#)
                return try await connection.ask(message).items.first?.pinned == true
            }
            try await waitUntil("the sign of the pin") {
                let report = try await browser.report()
                return report.cell("1.png")?.marks.contains("pinned") == true
                    && report.drawer?.contains("never evicted") == true
            }
            try await browser.press("r")
            try await slow.origin.waitForRequest("/1.png", count: 2)
            try await browser.press("v")
            try await waitUntil("the verification") {
                try await browser.report().notice.contains("intact")
            }
            try await browser.press("Escape")
            try await browser.move(to: "0.png")
            try await browser.press("Delete")
            // It can be undone for ten seconds.
            #expect(try await browser.report().notice.contains("Undo"))
            #expect(try await daemon.status(urls[0]).state == .cached)
            try await daemon.waitForState(.missing, of: urls[0])
            try await waitUntil("the removal") {
                try await Set(browser.report().cells.map(\.title)) == ["2.png", "1.png"]
            }

            // A user drops URLs on the page while the daemon stops and starts again.
            try await browser.drop(slow.urls.joined(separator: "\n"))
            try await waitUntil("three rings") { try await browser.report().count("ring") == 3 }
            try await daemon.stop()
            try await waitUntil("the news") { try await !browser.report().outage.isEmpty }
            #expect(try await !browser.report().isLit)
            daemon = try await daemon.restart()
            try await waitUntil("the end of the outage") {
                let report = try await browser.report()
                return report.outage.isEmpty && report.cells.contains { $0.title == "1.png" }
            }
            slow.gate.open()
            try await browser.paste(slow.urls.joined(separator: " "), as: "text/plain")
            try await waitUntil("all pictures") {
                try await browser.report().count("picture") == 5
            }
            #expect(try await browser.log().errors == [String]())
        }
    }

    @Test func hostileTextStaysTextAndTheLooksFollowTheUser() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let evil = "<img src=x onerror=document.title='caught'>.png"
            let path = "/" + evil.addingPercentEncoding(withAllowedCharacters: .alphanumerics)!
            let image = SampleImage.png(width: 90, height: 90)
            origin.route(path, .answer(headers: ["ETag": "\"<b>tag</b>\""], body: image))
            origin.route("/b.png", .answer(body: image))
            let url = origin.url(path)
            let gallery = try await GalleryProgram(daemon, in: scope)
            let browser = try await BrowserDriver(in: scope)
            try await browser.open(gallery.address, width: 1000, scheme: "dark", motion: "reduce")
            try await waitUntil("the empty cache") {
                try await browser.evaluate(
                    "document.querySelector('#empty').textContent", as: String.self
                ).contains("empty")
            }
            try await browser.press("a")
            try await browser.type("\(url) and \(origin.url("/gone.png")),")
            try await browser.press("Tab", "Tab", "Enter")
            try await waitUntil("the picture and the failure") {
                let report = try await browser.report()
                return report.count("picture") == 1 && report.failures.count == 1
            }
            let failure = try await browser.report().failures[0]
            #expect(failure.contains("404") && failure.contains("gone.png"))
            try await browser.perform(
                "[...document.querySelectorAll('.cell')].find(c => c.textContent.includes('onerror')).click()"
            )
            try await waitUntil("the details") {
                try await browser.report().drawer?.contains("\"<b>tag</b>\"") == true
            }
            #expect(try await browser.evaluate("document.title") == "cached")
            let refused = try await browser.evaluate(
                "(() => { try { document.body.innerHTML = '<p>' } catch (e) { return e.name } })()",
                as: String?.self)
            #expect(refused == "TypeError")

            // The state of things.
            try await browser.press("Escape", "s")
            _ = try await daemon.fetch(origin.url("/b.png"))
            try await daemon.cachectl("evict", "--to", "0")
            try await waitUntil("figures, plots and evictions") {
                let text = try await browser.evaluate(
                    "document.querySelector('#state').innerText", as: String.self)
                return text.contains("Budget") && text.contains("Free space")
                    && text.contains("Received") && text.contains("b.png")
            }

            // Dark, without motion, and on a phone.
            let styles =
                "[getComputedStyle(document.body).backgroundColor, document.documentElement.scrollWidth <= innerWidth].join()"
            #expect(try await browser.evaluate(styles) == "rgb(22, 24, 28),true")
            let gate = try Gate()
            origin.route(
                "/wait.png", OriginScript([.wait(gate)] + OriginScript.answer(body: image).steps))
            try await browser.paste(origin.url("/wait.png"), as: "text/uri-list")
            try await waitUntil("the light") { try await browser.report().isLit }
            #expect(try await browser.report().animations == 0)
            try await browser.open(gallery.address, width: 360, height: 640)
            try await browser.click("#show-shelf")
            try await waitUntil("the light") {
                let report = try await browser.report()
                return report.isLit && report.animations == 1
            }
            #expect(try await browser.evaluate(styles) == "rgb(255, 255, 255),true")
            gate.open()
            // Only the attempt above is in the console.
            #expect(try await browser.log().errors.allSatisfy { $0.contains("TrustedHTML") })
            let weight = try await browser.evaluate(
                "performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'))"
                    + ".filter(e => /\\.(js|css|svg)$|\\/$/.test(e.name)).reduce((sum, e) => sum + e.encodedBodySize, 0)",
                as: Int.self)
            print("gallery: page weight \(weight) bytes")
            #expect(weight > 0 && weight <= 179_700)
        }
    }

    // MARK: Helpers

    /// A list that is higher than the scroll bar can be: small movements are exact, and no row is skipped.
    private func expectEveryRowOfALongerListIsReached(_ browser: BrowserDriver) async throws {
        // 100,000 rows of 192 pixels; Firefox stops at 17.9 million pixels, as other browsers did.
        let seen = try await browser.evaluate(
            """
            import('./scroll.js').then(({ ScrollMap }) => {
              const map = new ScrollMap()
              map.resize(19_200_000, 800)
              const steps = []
              const note = () => steps.push(Math.round(map.position))
              note()
              map.moved(100); note()
              map.moved(map.barEnd / 2); note()
              map.moved(map.bar + 300); note()
              map.settle(); note()
              map.moved(map.barEnd); note()
              map.moved(map.bar - 500); note()
              let leap = 0
              for (let n = 0; n < 300_000 && map.position > 0; n += 1) {
                const before = map.position
                map.moved(Math.max(0, map.bar - 100))
                if (map.isStrained) map.settle()
                leap = Math.max(leap, before - map.position)
              }
              steps.push(leap <= 500 ? 0 : leap)
              note()
              return [...steps, map.barHeight]
            })
            """, as: [Int].self)
        let end = 19_199_200
        #expect(
            seen == [
                0, 100, end / 2, end / 2 + 300, end / 2 + 300, end, end - 500, 0, 0, 8_000_000,
            ])
    }
}

/// Images that stop after 40 %, until the gate is open. Of the first one the length is not known.
private struct SlowImages {
    let origin: ScriptedOrigin
    let gate: Gate
    let urls: [String]

    init(_ count: Int, in scope: TestScope) throws {
        origin = try ScriptedOrigin(in: scope)
        gate = try Gate()
        let origin = origin
        urls = (0..<count).map { origin.url("/slow-\($0).png") }
        for number in 0..<count {
            // The pixels begin within the first part: before them, a PNG can still be turned.
            let image = SampleImage.png(
                width: 700, height: 350, byteCount: 300_000, seed: number)
            let first = Array(image[..<120_000])
            let rest = Array(image[120_000...])
            if number == 0 {
                origin.route(
                    "/slow-0.png",
                    [
                        .head(200, ["Content-Type": "image/png", "Transfer-Encoding": "chunked"]),
                        .chunk(first), .wait(gate), .chunk(rest), .chunk([]),
                    ])
            } else {
                origin.route("/slow-\(number).png", .gated(image, after: 120_000, gate))
            }
        }
    }

    func requests(_ url: String) -> Int {
        origin.requests(String(url.dropFirst(origin.url("").count))).count
    }
}
