import CacheWire
import Foundation
import TestSupport
import Testing

/// The gallery of `examples/gtk`, on a screen: 60 images, 5 in a row, 25 of them visible.
@Suite(
    "GTK gallery", .serialized, .timeLimit(.minutes(5)),
    .enabled("needs the packages of `.ci/dependencies gtk`") {
        try await GalleryDriver.isInstalled()
    })
struct GalleryTests {
    private static let columns = 5
    private static let rowsAhead = 2

    @Test func eachCellShowsItsStateAndOnlyVisibleCellsAreWanted() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            // Large enough that an interrupted download is continued.
            let picture = SampleImage.png(
                width: 320, height: 240, byteCount: 300_000, seed: 90)
            let etag: HeaderFields = ["ETag": "\"1\""]
            let third = picture.count / 3
            let urls = (0..<60).map { origin.url("/\($0).png") }
            let (here, coming, unknown, failing) = (urls[0], urls[1], urls[2], urls[3])
            for number in 0..<60 {
                let answer = OriginScript.answer(headers: etag, body: picture)
                origin.route("/\(number).png", OriginScript([.wait(gate)] + answer.steps))
            }
            origin.route("/0.png", .answer(headers: etag, body: picture))
            origin.route("/1.png") { request in
                guard request.firstOfRange == nil else {
                    let rest = OriginScript.ranged(picture, for: request, headers: etag)
                    return OriginScript([.wait(gate)] + rest.steps)
                }
                return .gated(picture, after: third, gate, headers: etag)
            }
            origin.route(
                "/2.png",
                [
                    .head(200, ["Content-Type": "image/png", "Transfer-Encoding": "chunked"]),
                    .chunk(Array(picture[..<third])), .wait(gate),
                    .chunk(Array(picture[third...])), .chunk([]),
                ])
            origin.route("/3.png", .answer(404))

            let daemon = try await DaemonFixture.start(in: scope)
            let gallery = try await GalleryDriver(daemon, urls: urls, in: scope)
            let first = try await eventually("a cell of each look") {
                let report = try await gallery.report()
                let looks = [here, coming, unknown, failing].map { report.onScreen[$0]?.look }
                let isAsExpected =
                    looks == ["picture", "ring", "ring", "failed"] && report.count("shimmer") == 21
                return isAsExpected ? report : nil
            }
            let fraction = Double(third) / Double(picture.count)
            #expect(try abs(#require(first.onScreen[coming]).fraction - fraction) < 0.01)
            #expect(first.onScreen[unknown]?.fraction == -1)
            #expect(first.onScreen[failing]?.message.contains("404") == true)
            expectWanted(rows: 0..<5, of: urls, first)

            // The screen shows what the cells say.
            let file = try TemporaryDirectory(in: scope).file("screen.png")
            // A picture that has just arrived still fades in, and a ring grows to its part.
            try await waitUntil("the looks of the cells") {
                let pixels = try await gallery.screenshot(file)
                return pixels.keys.sorted() == first.onScreen.keys.sorted()
                    && first.onScreen.allSatisfy { url, cell in
                        let seen = pixels[url] ?? .init(ring: 0, picture: 0)
                        return (seen.picture > 500) == (cell.look == "picture")
                            && (seen.ring > 5) == (cell.look == "ring")
                    }
            }
            // The light moves while something visible waits.
            #expect(first.isMoving)
            try await waitUntil("more frames") {
                try await gallery.report().frames >= first.frames + 5
            }

            // The downloads of images that are scrolled out of the window stop.
            let away = try await gallery.scroll(toRow: 7)
            expectWanted(rows: 7..<12, of: urls, away)
            try await waitUntil("the downloads outside of the window to stop") {
                let reply = try await daemon.ask(call("List", parameters: #""state":"inFlight""#))
                return Set(reply.items.map(\.url)).isSubset(of: away.wanted.keys)
            }

            // Back again: the very first frame has the picture and the progress, without a flicker.
            let back = try await gallery.scroll(toRow: 0)
            #expect(back.onScreen[here]?.look == "picture")
            #expect(back.onScreen[coming]?.look == "ring")
            #expect(try abs(#require(back.onScreen[coming]).fraction - fraction) < 0.01)
            try await waitUntil("the request for the rest") {
                origin.requests("/1.png").contains { $0.firstOfRange == third }
            }
            #expect(try await gallery.report().onScreen[coming]?.look == "ring")

            gate.open()
            try await waitUntil("all pictures") {
                let report = try await gallery.report()
                return report.count("picture") == 24 && !report.isMoving
            }
            #expect(origin.requests("/1.png").count == 2)
        }
    }

    @Test func nothingIsDrawnOnceEverythingIsThereAndMemoryIsGivenBack() async throws {
        try await withTestScope { scope in
            let (origin, urls) = try pictures(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let gallery = try await GalleryDriver(daemon, urls: urls, in: scope)
            try await waitUntil("all pictures") {
                let report = try await gallery.report()
                return report.count("picture") == 25 && !report.isMoving && report.textures == 35
            }
            // Images far from the screen were not requested.
            #expect(Set(origin.requests().map { origin.url($0.path) }) == Set(urls[..<35]))
            try await waitUntil("the scroll bar to fade") {
                try await gallery.framesWhileIdle(seconds: 1) == 0
            }
            #expect(try await gallery.framesWhileIdle(seconds: 2) == 0)

            try await daemon.cachectl("pressure", "critical")
            try await waitUntil("textures to be given up") {
                try await gallery.report().textures == 0
            }
            #expect(try await gallery.report().count("picture") == 25)
            _ = try await gallery.scroll(toRow: 7)
            try await waitUntil("the next pictures to be decoded") {
                let report = try await gallery.report()
                return report.count("picture") == 25 && report.textures >= 25
            }
        }
    }

    @Test func aRestartOfTheDaemonLosesNothing() async throws {
        try await withTestScope { scope in
            let gate = try Gate()
            let (_, urls) = try pictures(after: gate, in: scope)
            var options = DaemonFixture.Options()
            options.socket = try TemporaryDirectory(in: scope).file("socket")
            let daemon = try await DaemonFixture.start(options, in: scope)
            let gallery = try await GalleryDriver(daemon, urls: urls, in: scope)
            try await gate.reached()
            _ = try await daemon.replace(afterCrash: true)
            #expect(try await gallery.report().count("shimmer") == 25)
            gate.open()
            try await waitUntil("all pictures") {
                try await gallery.report().count("picture") == 25
            }
        }
    }

    // MARK: Helpers

    /// Checks that exactly the rows on the screen are wanted as visible, and the rows beside them less urgently.
    private func expectWanted(
        rows: Range<Int>, of urls: [String], _ report: GalleryDriver.Report
    ) {
        let shown = urls[(rows.lowerBound * Self.columns)..<(rows.upperBound * Self.columns)]
        #expect(report.visible == Array(shown))
        #expect(Set(report.onScreen.keys) == Set(shown))
        let first = max(rows.lowerBound - Self.rowsAhead, 0) * Self.columns
        let last = min((rows.upperBound + Self.rowsAhead) * Self.columns, urls.count)
        #expect(Set(report.wanted.keys) == Set(urls[first..<last]))
        #expect(Set(report.wanted.filter { $0.value == 2 }.keys) == Set(shown))
    }

    /// 60 pictures, each sent once the gate is open.
    private func pictures(
        after gate: Gate? = nil, in scope: TestScope
    ) throws -> (ScriptedOrigin, [String]) {
        let origin = try ScriptedOrigin(in: scope)
        let picture = SampleImage.png(width: 320, height: 240, seed: 90)
        let answer = OriginScript.answer(
            headers: ["Cache-Control": "max-age=600"], body: picture)
        for number in 0..<60 {
            let wait = gate.map { [OriginScript.Step.wait($0)] } ?? []
            origin.route("/\(number).png", OriginScript(wait + answer.steps))
        }
        return (origin, (0..<60).map { origin.url("/\($0).png") })
    }
}
