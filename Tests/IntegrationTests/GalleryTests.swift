import CacheWire
import Foundation
import TestSupport
import Testing

/// The gallery of `examples/gtk`, on a screen: 300 images, 5 in a row, 25 of them visible.
@Suite(
    "GTK gallery", .serialized, .timeLimit(.minutes(5)),
    .enabled("needs the packages of `.ci/dependencies gtk`") {
        try await CachedGTK.isInstalled()
    })
struct GalleryTests {
    private static let columns = 5

    @Test func eachCellShowsItsStateAndWhatIsVisibleComesFirst() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let gate = try Gate()
            // Large enough that an interrupted download is continued.
            let picture = SampleImage.png(
                width: 320, height: 240, byteCount: 300_000, seed: 90)
            let etag: HeaderFields = ["ETag": "\"1\""]
            let third = picture.count / 3
            let urls = (0..<300).map { origin.url("/\($0).png") }
            let (here, coming, unknown, failing) = (urls[0], urls[1], urls[2], urls[3])
            for number in 0..<300 {
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

            // All that are visible can be in flight at once.
            let daemon = try await DaemonFixture.start(
                ["--max-transfers-per-host", "64"], in: scope)
            let gallery = try await GalleryDriver(daemon, urls: urls, in: scope)
            let fraction = Double(third) / Double(picture.count)
            let first = try await eventually("a cell of each state") {
                let report = try await gallery.report()
                let cells = [here, coming, unknown, failing].compactMap { report.onScreen[$0] }
                let states = cells.map(\.state)
                let isAsExpected =
                    states == ["cached", "in-flight", "in-flight", "failed"]
                    && cells[0].hasPicture && abs(cells[1].fraction - fraction) < 0.01
                return isAsExpected ? report : nil
            }
            #expect(Set(first.onScreen.keys) == Set(urls[..<25]))
            #expect(first.onScreen[unknown]?.fraction == -1)
            #expect(first.onScreen[failing]?.description.contains("404") == true)
            #expect(first.onScreen[coming]?.description == "1.png, receiving")
            // GTK makes more rows than it shows.
            #expect(first.bound.count > 100)

            // The screen shows what the cells say.
            let file = try TemporaryDirectory(in: scope).file("screen.png")
            // A picture that has just arrived still fades in, and a ring grows to its part.
            try await waitUntil("the looks of the cells") {
                let pixels = try await gallery.screenshot(file)
                return pixels.keys.sorted() == first.onScreen.keys.sorted()
                    && first.onScreen.keys.allSatisfy { url in
                        let seen = pixels[url] ?? .init(ring: 0, picture: 0)
                        return (seen.picture > 500) == (url == here)
                            && (seen.ring > 5) == (url == coming || url == unknown)
                    }
            }
            // The light moves while something visible waits.
            try await waitUntil("more frames") {
                try await gallery.report().frames >= first.frames + 5
            }

            // The downloads of images that are scrolled far away stop.
            let away = try await gallery.scroll(toRow: 50)
            #expect(Set(away.onScreen.keys) == Set(urls[250..<275]))
            try await waitUntil("the downloads on the screen to replace the others") {
                let reply = try await daemon.ask(call("List", parameters: #""state":"inFlight""#))
                let running = Set(reply.items.map { Self.original($0.url) })
                let bound = try await gallery.report().bound
                return running.isSuperset(of: urls[250..<275]) && running.isSubset(of: bound)
            }

            // Back again: the very first frame has the picture and the progress, without a flicker.
            let back = try await gallery.scroll(toRow: 0)
            #expect(back.onScreen[here]?.hasPicture == true)
            #expect(try abs(#require(back.onScreen[coming]).fraction - fraction) < 0.01)
            try await waitUntil("the request for the rest") {
                origin.requests("/1.png").contains { $0.firstOfRange == third }
            }

            gate.open()
            try await waitUntil("all pictures") { try await gallery.report().pictures == 24 }
            #expect(origin.requests("/1.png").count == 2)

            // Return asks again for what failed.
            origin.route("/3.png", .answer(headers: etag, body: picture))
            _ = try await gallery.activate(3)
            try await waitUntil("the last picture") { try await gallery.report().pictures == 25 }
        }
    }

    @Test func nothingIsDrawnOnceEverythingIsThereAndMemoryIsGivenBack() async throws {
        try await withTestScope { scope in
            let (origin, urls) = try pictures(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let gallery = try await GalleryDriver(daemon, urls: urls, in: scope)
            let bound = Set(try await gallery.report().bound)
            try await waitUntil("all pictures, and those of the rows that are not seen") {
                let report = try await gallery.report()
                return report.pictures == 25 && origin.requests().count == bound.count
            }
            // All that are visible came before any other.
            let asked = origin.requests().map { origin.url($0.path) }
            #expect(Set(asked[..<25]) == Set(urls[..<25]))
            #expect(Set(asked) == bound)
            try await waitUntil("the last frame") {
                try await gallery.framesWhileIdle(seconds: 1) == 0
            }
            #expect(try await gallery.framesWhileIdle(seconds: 2) == 0)

            let ofOneScreen = try await gallery.report().memory
            _ = try await gallery.scroll(toRow: 5)
            try await waitUntil("the pictures of another screen") {
                let report = try await gallery.report()
                return report.pictures == 25 && report.memory > ofOneScreen * 3 / 2
            }
            try await daemon.cachectl("pressure", "critical")
            // What is on the screen stays, with a row of which a line of pixels may be seen.
            try await waitUntil("the memory to be given back") {
                let report = try await gallery.report()
                #expect(report.pictures == 25)
                return report.memory < ofOneScreen * 5 / 4
            }
            _ = try await gallery.scroll(toRow: 30)
            try await waitUntil("the next pictures to be decoded") {
                try await gallery.report().pictures == 25
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
            #expect(try await gallery.report().pictures == 0)
            gate.open()
            try await waitUntil("all pictures") { try await gallery.report().pictures == 25 }
        }
    }

    // MARK: Helpers

    private static func original(_ url: String) -> String {
        String(url.prefix { $0 != "#" })
    }

    /// 300 pictures, each sent once the gate is open.
    private func pictures(
        after gate: Gate? = nil, in scope: TestScope
    ) throws -> (ScriptedOrigin, [String]) {
        let origin = try ScriptedOrigin(in: scope)
        let picture = SampleImage.png(width: 320, height: 240, seed: 90)
        let answer = OriginScript.answer(
            headers: ["Cache-Control": "max-age=600"], body: picture)
        for number in 0..<300 {
            let wait = gate.map { [OriginScript.Step.wait($0)] } ?? []
            origin.route("/\(number).png", OriginScript(wait + answer.steps))
        }
        return (origin, (0..<300).map { origin.url("/\($0).png") })
    }
}
