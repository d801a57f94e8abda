import CacheWire
import Foundation
import ImageSamples
import StubDaemon
import Synchronization
import TestSupport
import Testing

/// The library `cached-gtk` by itself: a C program over it under AddressSanitizer, and a grid in each language.
@Suite(
    "cached-gtk", .serialized, .timeLimit(.minutes(5)),
    .enabled("needs the packages of `.ci/dependencies gtk`") {
        try await CachedGTK.isInstalled()
    })
struct CachedGTKTests {
    /// The picture that a widget shows, the state of paintables that end, sharing, memory, rest, a closed display.
    @Test func noEndOfAPaintableOrDisplayBreaksAProgram() async throws {
        try await withTestScope { scope in
            let images = try Images(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let text = try await runDriver(
                [
                    ["states", images.photo, images.slow, images.none],
                    ["sharing", images.photo], ["fits", images.portrait, images.icon],
                    ["rest", images.photo], ["unrun", images.photo, images.slow],
                    ["closed", images.photo, images.slow],
                ], daemon, in: scope)
            for line in [
                "with a ring", "failed again", "kept for the next one", "an icon is not enlarged",
                "no wake-up while nothing moves", "without a main loop", "with a closed display",
            ] {
                #expect(text.contains("ok \(line)\n"), "\(text)")
            }
        }
    }

    /// In a sandbox that has only the socket.
    @Test func picturesComeWithoutAccessToTheDirectory() async throws {
        try await withTestScope { scope in
            let images = try Images(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            _ = try await runDriver(
                [["sharing", images.photo]], daemon, directory: "/nonexistent", in: scope)
        }
    }

    @Test func originalsAreDecodedIfNothingMakesSmallerOnes() async throws {
        try await withTestScope { scope in
            let images = try Images(in: scope)
            let daemon = try await withoutDeriver(in: scope)
            _ = try await runDriver(
                [["sharing", images.photo], ["fits", images.portrait, images.icon]], daemon,
                in: scope)
            let list = try await daemon.cachectl("list").text
            #expect(!list.contains("#side="))
        }
    }

    @Test func aTypeWithoutALoaderIsNotAccepted() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            origin.route("/a.avif", .answer(body: ImageSample.avif.bytes))
            let daemon = try await withoutDeriver(in: scope)
            let text = try await runDriver(
                [["undecodable", origin.url("/a.avif")]], daemon, in: scope)
            #expect(text.contains("image/avif, which the request does not accept"), "\(text)")
            #expect(try await daemon.status(origin.url("/a.avif")).state == .cached)
        }
    }

    @Test func aSmallerImageStandsInForOneThatIsComing() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let picture = SampleImage.png(width: 1280, height: 960, seed: 90)
            origin.route("/a.png", .answer(body: picture))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch("\(url)#side=64").state == .cached)
            try FileManager.default.removeItem(atPath: daemon.path(url))
            origin.route("/a.png", .gated(picture, after: 1000, try Gate()))
            let text = try await runDriver([["stand-in", url]], daemon, in: scope)
            #expect(text.contains("ok a smaller image stands in\n"), "\(text)")
        }
    }

    @Test func pressureTakesNothingThatIsAboutToBeDrawn() async throws {
        try await withTestScope { scope in
            let images = try Images(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let cachectl = try BuiltProducts.program("cachectl")
            let text = try await runDriver(
                [["pressure", cachectl, images.photo, images.portrait]], daemon, in: scope)
            #expect(text.contains("ok what is to be drawn stays\n"), "\(text)")
        }
    }

    /// It takes the fragment of a size for a mistake.
    @Test func aDaemonThatKnowsNoSizesGivesTheOriginal() async throws {
        try await withTestScope { scope in
            let images = try Images(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let item = try await daemon.fetch(images.photo)
            let path = try #require(item.path)
            try await daemon.stop()
            let stub = try StubDaemon { call in
                Self.urls(in: call).map { url in
                    let state =
                        url.contains("#")
                        ? #""missing","failure":{"kind":"invalidURL","message":"it has a fragment"}"#
                        : #""cached","path":"\#(path)""#
                    return Self.reply(#"{"url":"\#(url)","key":"k","state":\#(state)}"#)
                }
            }
            let text = try await runDriver(
                [["rest", images.photo]], daemon, socket: stub.path, in: scope)
            #expect(text.contains("ok no wake-up while nothing moves\n"), "\(text)")
            #expect(stub.calls.contains { $0.contains("#side=") })
        }
    }

    @Test func aHostileDaemonBreaksNothing() async throws {
        try await withTestScope { scope in
            let folder = try TemporaryDirectory(in: scope)
            let text = try folder.write("no image", to: "text")
            let file = open(text, O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let states = [
                #""cached","path":"/dev/zero","width":2147483647,"height":2147483647"#,
                #""cached","path":"/","size":-1"#,
                #""cached","path":"\#(text)","mediaType":"a\u0000b""#,
                #""cached","path":"relative""#, #""inFlight","received":9e99,"total":1"#,
                #""inFlight","phase":"none","received":9223372036854775807,"total":1"#,
                #""missing","failure":{"kind":"","message":""}"#, #""unheardOf""#,
                #""missing","failure":{"kind":"underivable","message":"\#(String(repeating: "x", count: 99_999))"}"#,
                #""missing""#, #""cached""#, "[[[[[[[[[[",
            ]
            let turn = Mutex(0)
            let stub = try StubDaemon(with: [file]) { call in
                if call.contains("pressure") {
                    return ["critical", "normal", "critical"].map {
                        #"{"parameters":{"pressure":"\#($0)"},"continues":true}"#
                    }
                }
                return Self.urls(in: call).flatMap { url in
                    (0..<3).map { _ in
                        let number = turn.withLock { turn in
                            turn += 1
                            return turn
                        }
                        let state = states[number * 7 % states.count]
                        return Self.reply(#"{"url":"\#(url)","key":"k","state":\#(state)}"#)
                    }
                }
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = (0..<20).map { "http://a.example/\($0).png" }
            let output = try await runDriver(
                [["hostile"] + urls], daemon, directory: "/nonexistent", socket: stub.path,
                in: scope)
            #expect(output.contains("ok with a hostile daemon\n"), "\(output)")
            #expect(turn.withLock { $0 } > 3 * states.count)
        }
    }

    @Test func theMainLoopIsNotBlockedByManyImages() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let text = try await runDriver(
                [["many", "20000", origin.url("/")]], daemon, in: scope)
            #expect(text.contains("ok many"), "\(text)")
        }
    }

    /// That in C is in docs/learn/rings-in-gtk.md.
    @Test(arguments: ["c", "vala", "py", "js"])
    func aGridTakesFewLines(language: String) async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let picture = SampleImage.png(width: 320, height: 240, seed: 90)
            let urls = (0..<300).map { origin.url("/\($0).png") }
            for number in 0..<300 { origin.route("/\(number).png", .answer(body: picture)) }
            let home = try TemporaryDirectory(in: scope)
            var source = Libcached.root + "examples/gtk/grid.\(language)"
            if language == "c" {
                let page = Libcached.root + "docs/learn/rings-in-gtk.md"
                let block = try MarkdownBlock.blocks(of: page).first {
                    $0.text.contains("int main")
                }
                source = try home.write(try #require(block).text, to: "grid.c")
            }
            let lines = String(decoding: try contents(of: source), as: UTF8.self).split(
                separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.dropLast().count <= (language == "c" ? 40 : 20))
            var words = ["gjs", source]
            if language == "py" { words = [CachedGTK.python, source] }
            if ["c", "vala"].contains(language) {
                words = [home.file("grid")]
                try await CachedGTK.compile(source, to: words[0])
            }
            let daemon = try await DaemonFixture.start(in: scope)
            let display = try await Display(words + urls, daemon, in: scope)
            // 25 cells of at least 160 by 120 pixels, of which some lie only partly on the screen.
            try await waitUntil("the pictures on the screen") {
                try await display.pixels(ofGrey: 90) > 22 * 160 * 120
            }
            let asked = origin.requests().map { origin.url($0.path) }
            #expect(Set(asked.prefix(25)) == Set(urls[..<25]))
        }
    }

    // MARK: Helpers

    /// An origin with one image of each kind.
    struct Images {
        let photo, slow, none, portrait, icon: String

        init(in scope: TestScope) throws {
            let origin = try ScriptedOrigin(in: scope)
            let picture = SampleImage.png(width: 1280, height: 960, seed: 90)
            (photo, slow) = (origin.url("/photo.png"), origin.url("/slow.png"))
            (portrait, icon) = (origin.url("/portrait.png"), origin.url("/icon.png"))
            none = origin.url("/none.png")
            origin.route("/photo.png", .answer(body: picture))
            origin.route("/slow.png", .gated(picture, after: picture.count / 2, try Gate()))
            origin.route("/none.png", .answer(404))
            origin.route("/icon.png", .answer(body: SampleImage.png(width: 32, height: 32)))
            origin.route("/portrait.png", .answer(body: SampleImage.png(width: 480, height: 640)))
        }
    }

    /// The URLs that a call wants.
    static func urls(in call: String) -> [String] {
        call.components(separatedBy: #""url":""#).dropFirst().compactMap {
            $0.split(separator: "\"").first.map { String($0) }
        }
    }

    static func reply(_ item: String) -> String {
        #"{"parameters":{"items":[\#(item)]},"continues":true}"#
    }

    /// A daemon that makes no smaller images: it looks for the other program beside itself.
    private func withoutDeriver(in scope: TestScope) async throws -> DaemonFixture {
        let alone = try TemporaryDirectory(in: scope).file("cached")
        var options = DaemonFixture.Options()
        options.launcher = ["sh", "-c", #"cp "$0" \#(alone) && exec \#(alone) "$@""#]
        return try await DaemonFixture.start(options, in: scope)
    }

    /// Runs cases of the driver one after the other on one display.
    ///
    /// - Returns: what they printed.
    func runDriver(
        _ cases: [[String]], _ daemon: DaemonFixture, directory: String? = nil,
        socket: String? = nil, in scope: TestScope
    ) async throws -> String {
        let driver = try await CachedGTK.sanitizedDriver()
        let script = cases.map { "'\(driver)' '" + $0.joined(separator: "' '") + "'" }
            .joined(separator: " && ")
        let words = CachedGTK.onDisplay(["sh", "-c", script])
        let output = try await run(
            words[0], Array(words.dropFirst()),
            environment: try await CachedGTK.environment(
                daemon, directory: directory, socket: socket, in: scope),
            within: .seconds(120))
        #expect(output.status == .success, "\(output.text)\(output.errorText)")
        return output.text
    }
}
