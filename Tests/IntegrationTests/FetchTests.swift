import CacheKey
import CacheWire
import Glibc
import TestSupport
import Testing

/// From a URL to a file: the output for a person, and the files on the disk during the download.
@Suite("Fetching", .serialized, .timeLimit(.minutes(5)))
struct FetchTests {
    @Test func anImageGoesFromMissingThroughInFlightToCached() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(width: 40, height: 30, byteCount: 100_000)
            let gate = try Gate()
            origin.route("/a.png", .gated(image, after: 42_000, gate))
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)

            let before = try await daemon.cachectl("status", url)
            #expect(before.status == .exited(1))
            #expect(before.text == "missing \(url)\n")

            let fetch = try daemon.startCachectl("fetch", url)
            try await gate.reached()
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: [#""more":true"#]) + "\0")
            _ = try await stream.nextItem { $0.received == 42_000 }
            let during = try await daemon.cachectl("status", url)
            #expect(during.status == .exited(2))
            #expect(during.text == "in-flight 42.0% 42000/100000 \(url)\n")

            gate.open()
            let path = try daemon.path(url)
            #expect(try await fetch.waitForExit() == .success)
            #expect(fetch.text(.standardOutput) == path + "\n")
            #expect(fetch.text(.standardError).isEmpty)
            let after = try await daemon.cachectl("status", url)
            #expect(after.status == .success)
            #expect(after.text == "cached 100000 image/png \(path)\n")
            #expect(try contents(of: path) == image)
            #expect(origin.requests("/a.png").count == 1)
        }
    }

    @Test func thePartialFileGrowsWithTheDownloadAndIsGoneAfterwards() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(byteCount: 90_000)
            let gates = [try Gate(), try Gate()]
            origin.route(
                "/a.png",
                [
                    .head(200, ["Content-Length": "90000"]),
                    .bytes(Array(image[..<20_000])), .wait(gates[0]),
                    .bytes(Array(image[20_000..<70_000])), .wait(gates[1]),
                    .bytes(Array(image[70_000...])),
                ])
            let url = origin.url("/a.png")
            let daemon = try await DaemonFixture.start(in: scope)
            let path = try daemon.path(url)
            let stream = try daemon.connect()
            try await stream.send(call("Fetch", [url], flags: [#""more":true"#]) + "\0")
            for (gate, received) in zip(gates, [20_000, 70_000]) {
                // Progress of less than 1 % is not reported.
                _ = try await stream.nextItem { ($0.received ?? 0) > received - 900 }
                try await waitUntil("\(received) bytes") { size(at: path + ".part") == received }
                #expect(size(at: path) == nil)
                gate.open()
            }
            #expect(try await stream.lastReply().items.first?.state == .cached)
            #expect(size(at: path) == 90_000)
            #expect(size(at: path + ".part") == nil)
        }
    }

    @Test func theAttributesRecordAnImagesURLTypeAndDigest() async throws {
        try await withTestScope { scope in
            let origin = try ScriptedOrigin(in: scope)
            let image = SampleImage.png(width: 31, height: 17, byteCount: 5000)
            origin.route("/a.png?v=1", .answer(headers: ["ETag": "\"e1\""], body: image))
            let url = origin.url("/a.png?v=1")
            let daemon = try await DaemonFixture.start(in: scope)
            #expect(try await daemon.fetch(url).state == .cached)

            let attributes = try await ExtendedAttributes.all(of: try daemon.path(url))
            let record = try recordName(url)
            #expect(
                try attributes.names().sorted()
                    == [
                        record, "\(record).validators", "user.mime_type", "user.xdg.origin.url",
                    ].sorted())
            #expect(try attributes["user.xdg.origin.url"] == url)
            #expect(try attributes["user.mime_type"] == "image/png")
            let digest = try await sha256(image)
            let validators = try #require(try attributes["\(record).validators"])
            let fields = validators.split(separator: " ")
            #expect(fields.starts(with: ["v2", "sha256=\(digest)", "etag=\"e1\""]))
            let bytes = try #require(try attributes.bytes(of: record))
            #expect(bytes.count == 56 && bytes.starts(with: "v3".utf8))
            #expect(
                bytes[8..<24].elementsEqual([136, 19, 0, 0, 0, 0, 0, 0, 31, 0, 0, 0, 17, 0, 0, 0]))

            let item = try await daemon.status(url, details: true)
            #expect(item.sha256 == digest)
            #expect(item.width == 31 && item.height == 17)
            let shown = try await runSuccessfully(
                "getfattr", ["--absolute-names", "-d", try daemon.path(url)])
            #expect(shown.contains("user.xdg.origin.url=\"\(url)\""))
        }
    }

    @Test func realImagesArriveCompleteWithTypeAndDimensions() async throws {
        try await withTestScope { scope in
            let icons = try RealImages.paths(of: RealImages.icons)
            let backgrounds = try RealImages.paths(of: RealImages.backgrounds)
            let files =
                stride(from: 0, to: icons.count, by: max(icons.count / 100, 1)).map { icons[$0] }
                + backgrounds.filter { (size(at: $0) ?? 0) < 4_000_000 }.prefix(8)
            let nginx = try await Nginx(serving: ["/": "/usr/share"], in: scope)
            let daemon = try await DaemonFixture.start(in: scope)
            let urls = files.map { nginx.url(percentEncoded($0.dropFirst("/usr/share/".count))) }
            let output = try await daemon.cachectl(
                "fetch", "-", input: Array(urls.joined(separator: "\n").utf8))
            #expect(output.status == .success)
            #expect(output.lines == (try urls.map { try daemon.path($0) }))

            let items = try await daemon.ask(call("Status", urls)).items
            for (item, file) in zip(items, files) {
                let bytes = try contents(of: file)
                let path = try #require(item.path)
                #expect(try contents(of: path) == bytes, "\(file)")
                let isPNG = file.hasSuffix(".png")
                #expect(item.mediaType == (isPNG ? "image/png" : "image/jpeg"), "\(file)")
                #expect((item.width ?? 0) > 0 && (item.height ?? 0) > 0, "\(file)")
                // The first chunk of a PNG is its header (PNG specification, §11.2.2).
                if isPNG {
                    #expect(item.width == bytes[16..<20].reduce(0) { $0 << 8 | Int($1) })
                    #expect(item.height == bytes[20..<24].reduce(0) { $0 << 8 | Int($1) })
                }
            }
        }
    }

    /// A path as part of a URL. In the names of these images only spaces need encoding.
    private func percentEncoded(_ path: Substring) -> String {
        path.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20")
    }

    @Test func svgIsAcceptedOnlyIfConfigured() async throws {
        try await withTestScope { scope in
            let root = try TemporaryDirectory(in: scope)
            try root.write(
                #"<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><g/></svg>"#,
                to: "a.svg")
            let nginx = try await Nginx(serving: ["/": root.path], in: scope)
            let url = nginx.url("a.svg")
            let strict = try await DaemonFixture.start(in: scope)
            let refused = try await strict.fetch(url)
            #expect(refused.state == .missing)
            #expect(refused.failure?.kind == "notAnImage")
            #expect(try strict.names(excluding: []).isEmpty)

            let lenient = try await DaemonFixture.start(
                environment: ["CACHED_ACCEPT": "svg"], in: scope)
            let taken = try await lenient.fetch(url)
            #expect(taken.state == .cached)
            #expect(taken.mediaType == "image/svg+xml")
        }
    }
}
