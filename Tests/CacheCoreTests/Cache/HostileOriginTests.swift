import CLinux
import CacheKey
import CacheValues
import Glibc
import HTTPCaching
import ImageFormats
import ImageSamples
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Hostile origins: endless heads and bodies, false lengths, compressed bodies that expand.
@Suite("Cache: hostile origins", .timeLimit(.minutes(5)))
struct HostileOriginTests {
    private static let cap = 100_000
    private static let image = SampleImage.png(byteCount: 5000)

    private func fixture(in scope: TestScope) throws -> CacheFixture {
        try CacheFixture(in: scope) { settings in
            settings.limits.maximumImageSize = Int64(Self.cap)
            settings.transfers.stallTimeout = 2
        }
    }

    /// Nothing is published, and the partial is no larger than one image may be.
    private func expectNothing(of path: String, in fixture: CacheFixture) throws {
        #expect(!(try fixture.lookup(path).isCached), "\(path)")
        #expect(access(try fixture.file(path), F_OK) != 0, "\(path)")
        var status = stat()
        if stat(try fixture.file(path) + ".part", &status) == 0 {
            #expect(Int(status.st_size) <= Self.cap, "\(path)")
        }
    }

    /// Failures are remembered, so their size is limited. One character can have any number of bytes.
    @Test func aFailureKeepsLittleOfALongMessage() {
        #expect(
            Failure(.http, String(repeating: "\u{301}", count: 9000)).message.utf8.count <= 2048)
    }

    /// Each chunk has one byte of the image, and an extension of a megabyte (RFC 9112 §7.1.1).
    @Test func bytesAroundTheImageCountToo() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let extended = [UInt8](
                ("1;" + String(repeating: "x", count: 1 << 20) + "\r\na\r\n").utf8)
            var script: OriginScript = [.head(200, ["Transfer-Encoding": "chunked"])]
            script.steps.append(
                .bytes(Array("1000\r\n".utf8) + Self.image.prefix(4096) + [13, 10]))
            for _ in 0..<400 { script.steps.append(.bytes(extended)) }
            fixture.origin.route("/a.png", script)
            let failure = try await fixture.fetch("/a.png").failures.values.first
            #expect(failure?.kind == .protocolError)
            #expect(
                failure?.message.contains("around the image") == true, "\(failure?.message ?? "")")
            try expectNothing(of: "/a.png", in: fixture)
        }
    }

    /// 66 bytes that promise 2147483647 x 2147483647 pixels.
    @Test func anImageWithMorePixelsThanTheLimitIsRefused() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let side = big32(0x7FFF_FFFF)
            let png = join(
                Bytes(ImageSample.png.bytes.prefix(8)),
                pngChunk("IHDR", side, side, [8, 2, 0, 0, 0]), pngChunk("IDAT", [1]),
                pngChunk("IEND", zeros(8)))
            #expect(png.count == 66)
            for (path, script) in [
                ("/a.png", OriginScript.answer(body: png)),
                ("/chunked.png", .chunked(png)),
            ] {
                fixture.origin.route(path, script)
                let failure = try await fixture.fetch(path).failures.values.first
                #expect(failure?.kind == .tooLarge)
                #expect(failure?.message.contains("2147483647 x 2147483647 pixels") == true)
                #expect(failure?.message.contains("--max-pixels") == true)
                try expectNothing(of: path, in: fixture)
            }
        }
    }

    @Test func theLimitOfPixelsIsASetting() async throws {
        try await withTestScope { scope in
            let image = ImageSample.png
            for (limit, isFetched) in [(600, true), (599, false)] as [(Int64, Bool)] {
                let fixture = try CacheFixture(in: scope) { $0.transfers.maximumPixels = limit }
                fixture.origin.route("/a.png", .answer(body: image.bytes))
                #expect(try await fixture.fetch("/a.png").failures.isEmpty == isFetched)
            }
        }
    }

    @Test func aCompressedBodyIsUnpackedNoFurtherThanTheLimitForImages() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let directory = try TemporaryDirectory(in: scope)
            // 20 kB that expand to 20 MB: an image, then zeros.
            let whole = Self.image + [UInt8](repeating: 0, count: 20_000_000)
            let file = try directory.write(whole, to: "bomb")
            _ = try await runSuccessfully("gzip", [file])
            let bomb = try contents(of: file + ".gz")
            #expect(bomb.count < Self.cap)
            for (name, coding, kind) in [
                ("/gzip.png", "gzip", Failure.Kind.tooLarge),
                ("/deflate.png", "deflate", .notAnImage), ("/br.png", "br", .notAnImage),
            ] {
                fixture.origin.route(
                    name, .answer(headers: ["Content-Encoding": coding], body: bomb))
                let failures = try await fixture.fetch(name).failures
                #expect(failures.values.map(\.kind) == [kind], "\(name)")
                try expectNothing(of: name, in: fixture)
            }
            #expect(fixture.origin.requests().allSatisfy { $0.headers["TE"] == nil })
        }
    }

    @Test(
        arguments: [
            ["Content-Length": "4999"], ["Content-Length": "5001"], ["Content-Length": "-1"],
            ["Content-Length": "99999999999999999999999"],
            ["Content-Length": "9223372036854775807"],
            ["Content-Length": "5000x"], ["Content-Length": "4000, 5000"],
            ["Content-Length": "100001"],
        ] as [HeaderFields])
    func aFalseLengthPublishesNothingWrong(headers: HeaderFields) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let length = HeaderFields(headers.fields + [(name: "Connection", value: "close")])
            fixture.origin.route("/a.png", [.head(200, length), .bytes(Self.image), .close])
            _ = try await fixture.fetch("/a.png")
            // A length that is too short can be believed: the bytes after it belong to no response.
            if case .cached(let facts, _, _) = try fixture.lookup("/a.png") {
                #expect(facts.size <= 5000)
                #expect(try contents(of: fixture.file("/a.png")).count == Int(facts.size))
            } else {
                try expectNothing(of: "/a.png", in: fixture)
            }
        }
    }

    /// An unreadable length and a claim of HTTP/2 do not prove that a body is complete.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999", "HTTP/2 200", "HTTP/3 200",
    ])
    func aBodyWithUnreliableFramingIsNotTakenAsComplete(head: String) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let bytes = Array((head + "\r\n\r\n").utf8) + Self.image.prefix(2500)
            fixture.origin.route("/a.png", [.bytes(bytes), .close])
            #expect(try await !fixture.fetch("/a.png").failures.isEmpty)
            try expectNothing(of: "/a.png", in: fixture)
        }
    }

    @Test(arguments: ["5000\r\nContent-Length: 4990", "4990\r\nContent-Length: 5000", "5000, 10"])
    func contradictingLengthsAreRefused(lengths: String) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(lengths)\r\n\r\n"
            fixture.origin.route("/a.png", [.bytes(Array(head.utf8) + Self.image), .close])
            let failures = try await fixture.fetch("/a.png").failures
            #expect(failures.values.map(\.kind) == [.protocolError])
            try expectNothing(of: "/a.png", in: fixture)
        }
    }

    @Test(arguments: [-10, 10])
    func aLengthThatContradictsTheChunksIsRefused(difference: Int) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let length = Self.image.count + difference
            let fields: HeaderFields = [
                "Transfer-Encoding": "chunked", "Content-Length": "\(length)",
            ]
            fixture.origin.route(
                "/a.png",
                [.head(200, fields), .chunk(Self.image), .bytes(Array("0\r\n\r\n".utf8))])
            let failures = try await fixture.fetch("/a.png").failures
            #expect(failures.values.map(\.kind) == [.protocolError])
            try expectNothing(of: "/a.png", in: fixture)
        }
    }

    /// Many images lack their end, or have bytes after it. Viewers draw the part that is there.
    @Test(arguments: TruncationTests.Framing.allCases, [ImageSample.gif, .jpeg, .png, .bmp])
    func aMissingEndIsToleratedIfTheFramingShowsTheEnd(
        framing: TruncationTests.Framing, sample: ImageSample
    ) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let bodies = [
                sample.bytes.dropLast(sample.report.mediaType == .gif ? 1 : 2),
                sample.bytes + [0, 0],
            ].map(Array.init)
            for (number, body) in bodies.enumerated() {
                fixture.origin.route("/\(number)", framing.whole(body))
                let failures = try await fixture.fetch("/\(number)").failures
                // A body that ends with the connection needs the end mark. Bytes after the mark are harmless.
                let isTaken = framing != .close || number == 1
                #expect(failures.isEmpty == isTaken, "\(number): \(failures)")
                if isTaken { #expect(try contents(of: fixture.file("/\(number)")) == body) }
            }
        }
    }

    /// The origin's own copy lacks its last bytes, and all bytes of that copy arrive.
    @Test(
        arguments: [TruncationTests.Framing.length, .chunked],
        [(ImageSample.webpLossy, 1), (.avif, 2), (.avifMinimized, 1), (.heic, 2)])
    func anImageShorterThanItsOwnLengthsIsRefused(
        framing: TruncationTests.Framing, cut: (sample: ImageSample, missing: Int)
    ) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route(
                "/a.png", framing.whole(Array(cut.sample.bytes.dropLast(cut.missing))))
            let failure = try #require(try await fixture.fetch("/a.png").failures.values.first)
            #expect(failure.kind == .notAnImage)
            #expect(failure.message.contains("copy is cut short"))
            try expectNothing(of: "/a.png", in: fixture)
        }
    }

    /// RFC 9110 §6.5.1.
    @Test func trailersAreIgnored() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let trailers = [
                "Content-Length: 3", "Content-Encoding: gzip", "HTTP/1.1 200 OK: a",
                "Cache-Control: max-age=99999", "Vary: *",
            ].map { $0 + "\r\n" }.joined()
            let fields = ["Transfer-Encoding": "chunked", "Cache-Control": "no-store"]
            fixture.origin.route(
                "/a.png",
                [
                    .head(200, HeaderFields(fields.map { (name: $0.key, value: $0.value) })),
                    .chunk(Self.image), .bytes(Array("0\r\n\(trailers)\r\n".utf8)),
                ])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == Self.image)
            let key = try fixture.imageRequest("/a.png").key
            #expect(fixture.cache.directory.entryRecord(of: key)?.removeAt != nil)
        }
    }

    private static let beginnings: [[UInt8]] = [
        [0xFF, 0xD8, 0xFF], Array("GIF89a".utf8), Array(image.prefix(8)),
        Array(image.prefix(8)) + Array("<html>404 not found</html>".utf8),
        Array("RIFF".utf8) + [0xFF, 0xFF, 0xFF, 0xFF] + Array("WEBP".utf8),
        ImageSample.jpegHead, ImageSample.jpegHead + [0xFF, 0xD9],
        Array(ImageSample.avif.bytes.dropLast(28)),
    ]

    /// All bytes arrive, but they are only the beginning of an image.
    @Test(arguments: beginnings)
    func theBeginningOfAnImageIsRefused(bytes: [UInt8]) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            fixture.origin.route("/a.png", .answer(body: bytes))
            let failures = try await fixture.fetch("/a.png").failures
            #expect(failures.values.map(\.kind) == [.notAnImage])
            try expectNothing(of: "/a.png", in: fixture)
        }
    }

    /// The server answers the handshake in plain text and closes the connection.
    @Test func aServerWithoutTLSIsToldFromOneThatIsDown() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let root = try TemporaryDirectory(in: scope)
            let nginx = try await Nginx(serving: ["/": root.path], in: scope)
            let url = "https" + nginx.url("/a.png").dropFirst("http".count)
            let waiter = fixture.cache.fetch([ImageRequest(try CacheURL(url))], FetchOptions())
            let failures = try await fixture.outcome(of: waiter).failures
            #expect(failures.values.map(\.kind) == [.tls])
        }
    }

    @Test func falseOrEndlessChunksAreCutOff() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let head = OriginScript.Step.head(200, ["Transfer-Encoding": "chunked"])
            let scripts: [String: OriginScript] = [
                "/huge.png": [
                    head, .bytes(Array("ffffffffffffffff\r\n".utf8)), .endless(Self.image),
                ],
                "/large.png": [
                    head, .bytes(Array("7fffffffffffffff\r\n".utf8)), .endless(Self.image),
                ],
                "/none.png": [head, .bytes(Array("xyz\r\n".utf8)), .endless(Self.image)],
                "/many.png": [
                    head, .chunk(Self.image),
                    .endless(
                        Array("400\r\n".utf8)
                            + [UInt8](repeating: 0, count: 1024) + Array("\r\n".utf8)),
                ],
                "/extended.png": [
                    head, .bytes(Array("1;".utf8)), .endless(Array("extension".utf8)),
                ],
            ]
            for (name, script) in scripts {
                fixture.origin.route(name, script)
                #expect(try await !fixture.fetch(name).failures.isEmpty, "\(name)")
                try await fixture.origin.waitForOutcome(.abandoned, of: name)
                try expectNothing(of: name, in: fixture)
            }
        }
    }

    @Test func endlessHeadsAreCutOff() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let start = OriginScript.Step.bytes(Array("HTTP/1.1 200 OK\r\n".utf8))
            let line = Array("X-Filler: \(String(repeating: "x", count: 80))\r\n".utf8)
            let scripts: [String: OriginScript] = [
                "/lines.png": [start, .endless(line)],
                "/line.png": [
                    start, .bytes(Array("X: ".utf8)), .endless(Array("xxxxxxxxxx".utf8)),
                ],
                "/status.png": [.bytes(Array("HTTP/1.1 200 ".utf8)), .endless(Array("OK".utf8))],
                "/interim.png": [.endless(Array("HTTP/1.1 103 Early Hints\r\n\r\n".utf8))],
                "/trailer.png": [
                    .head(200, ["Transfer-Encoding": "chunked"]), .chunk(Self.image),
                    .bytes(Array("0\r\n".utf8)), .endless(line),
                ],
            ]
            for (name, script) in scripts {
                fixture.origin.route(name, script)
                let failures = try await fixture.fetch(name).failures
                #expect(!failures.isEmpty, "\(name)")
                try await fixture.origin.waitForOutcome(.abandoned, of: name)
                try expectNothing(of: name, in: fixture)
            }
        }
    }

    /// The first header line is a folded one that continues nothing. libcurl 7.88 would append it to the last
    /// header that the same handle received, which is freed by then. RFC 9112 §5.2
    @Test func aHeadThatBeginsWithAFoldedLineDoesNoHarm() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let fold = "\t" + String(repeating: "x", count: 300)
            let head = "HTTP/1.1 200 OK\r\n\(fold)\r\nContent-Length: \(Self.image.count)\r\n\r\n"
            fixture.origin.route("/folded.png", [.bytes(Array(head.utf8) + Self.image), .close])
            let last = HeaderFields([(name: "X-Last", value: String(repeating: "y", count: 20))])
            fixture.origin.route("/plain.png", .answer(headers: last, body: Self.image))
            for round in 0..<100 {
                #expect(try await fixture.fetch("/plain.png?\(round)").failures.isEmpty)
                _ = try await fixture.fetch("/folded.png?\(round)")
                guard case .cached = try fixture.lookup("/folded.png?\(round)") else { continue }
                let file = try fixture.file("/folded.png?\(round)")
                #expect(try contents(of: file) == Self.image)
            }
        }
    }

    /// RFC 9112 §9.3.
    @Test(arguments: ["HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", "junk"])
    func strayDataIsNotTakenForTheNextResponse(surplus: String) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let other = SampleImage.png(byteCount: 5000, seed: 9)
            let gate = try Gate()
            fixture.origin.route(
                "/late.png",
                [
                    .head(200, ["Content-Length": "5000"]), .bytes(Self.image), .wait(gate),
                    .bytes(Array(surplus.utf8) + other),
                ])
            fixture.origin.route("/next.png", .answer(body: Self.image))
            #expect(try await fixture.fetch("/late.png").failures.isEmpty)
            gate.open()
            try await fixture.origin.waitForOutcome(.answered, of: "/late.png")
            #expect(try await fixture.fetch("/next.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/next.png")) == Self.image)
            #expect(fixture.origin.connectionsAccepted == 2)
            // Connections without stray data are reused.
            #expect(try await fixture.fetch("/next.png?1").failures.isEmpty)
            #expect(fixture.origin.connectionsAccepted == 2)
        }
    }

    /// The first request of a download can be made to use a new connection. The request after a redirect cannot.
    @Test func strayDataIsNotTakenForTheResponseAfterARedirect() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let other = SampleImage.png(byteCount: 5000, seed: 9)
            let gates = [try Gate(), try Gate()]
            fixture.origin.route("/late.png") { _ in
                [
                    .head(200, ["Content-Length": "5000"]), .wait(gates[0]), .bytes(Self.image),
                    .wait(gates[1]), .bytes(Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + other),
                ]
            }
            fixture.origin.route("/away.png", .redirect(to: "/next.png"))
            fixture.origin.route("/next.png", .answer(body: Self.image))
            let names = (0..<3).map { "/late.png?\($0)" }
            let late = fixture.cache.fetch(
                try names.map { try fixture.imageRequest($0) }, FetchOptions())
            // Each download has a connection of its own by now.
            try await gates[0].reached(count: 3)
            gates[0].open()
            #expect(try await fixture.outcome(of: late).failures.isEmpty)
            gates[1].open()
            for name in names { try await fixture.origin.waitForOutcome(.answered, of: name) }
            #expect(try await fixture.fetch("/away.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/away.png")) == Self.image)
        }
    }

    /// The stray data arrives after the request was sent, as from a server that sends a body with a 304 or
    /// a 204.
    @Test(arguments: ["<html>304</html>", "\r\n", "{}\n"])
    func strayDataAfterTheRequestLeadsToANewConnection(junk: String) async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let noResponse: OriginScript = [.bytes(Array(junk.utf8)), .close]
            fixture.origin.route("/first.png", .answer(body: Self.image))
            fixture.origin.route("/next.png") { request in
                request.connection == 0 ? noResponse : .answer(body: Self.image)
            }
            fixture.origin.route("/never.png", noResponse)
            #expect(try await fixture.fetch("/first.png").failures.isEmpty)
            #expect(try await fixture.fetch("/next.png").failures.values.map(\.message) == [])
            #expect(try contents(of: fixture.file("/next.png")) == Self.image)
            #expect(fixture.origin.requests("/next.png").map(\.connection) == [0, 1])
            // On a new connection the bytes are the server's response.
            let failures = try await fixture.fetch("/never.png").failures
            #expect(failures.values.map(\.kind) == [.protocolError])
            #expect(fixture.origin.requests("/never.png").map(\.connection) == [1, 2])
        }
    }

    @Test func surplusBehindARedirectIsNotTakenForTheImage() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let other = SampleImage.png(byteCount: 200_000, seed: 9)
            let head = "HTTP/1.1 302 Found\r\nLocation: /next.png\r\nContent-Length: 0\r\n\r\n"
            let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n"
            fixture.origin.route(
                "/away.png", [.bytes(Array((head + surplus).utf8) + other)])
            fixture.origin.route("/next.png", .answer(body: Self.image))
            #expect(try await fixture.fetch("/away.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/away.png")) == Self.image)
        }
    }

    /// A small piece costs as much as a large one, but it is the time that counts.
    @Test func tinyPiecesWithoutEndHoldNobody() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let pieces = (0..<10_000).flatMap { _ in Array("1\r\nX\r\n".utf8) }
            fixture.origin.route(
                "/a.png",
                [
                    .head(200, ["Transfer-Encoding": "chunked"]),
                    .bytes(Array("8\r\n".utf8) + Self.image.prefix(8) + [0x0D, 0x0A]),
                    .endless(pieces),
                ])
            fixture.origin.route("/good.png", .answer(body: Self.image))
            let waiter = fixture.cache.fetch(
                [try fixture.imageRequest("/a.png")], FetchOptions())
            for number in 0..<5 {
                #expect(try await fixture.fetch("/good.png?\(number)").failures.isEmpty)
            }
            let failures = try await fixture.outcome(of: waiter).failures
            #expect(failures.values.map(\.kind) == [.protocolError])
        }
    }

    @Test(arguments: [(5000, 1), (30_000, 1), (240_000, 20)])
    func aBodyInManyTinyPiecesIsTaken(size: Int, piece: Int) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let image = SampleImage.png(byteCount: size)
            let pieces = stride(from: 0, to: size, by: piece).flatMap { start in
                let bytes = image[start..<min(start + piece, size)]
                return Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [0x0D, 0x0A]
            }
            fixture.origin.route(
                "/a.png",
                [.head(200, ["Transfer-Encoding": "chunked"]), .bytes(pieces), .chunk([])])
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
        }
    }

    @Test func credentialsAreNeverTakenFromARedirectOrSent() async throws {
        try await withTestScope { scope in
            let fixture = try fixture(in: scope)
            let target = fixture.origin.url("/b.png").replacing(
                "http://", with: "http://me:secret@")
            fixture.origin.route("/a.png", .redirect(to: target))
            fixture.origin.route("/b.png", .answer(body: Self.image))
            fixture.origin.route(
                "/c.png",
                .answer(
                    401, headers: ["WWW-Authenticate": "Basic realm=\"x\"", "Set-Cookie": "a=b"]))
            fixture.origin.route("/d.png", .answer(body: Self.image))
            #expect(try await !fixture.fetch("/a.png").failures.isEmpty)
            #expect(try await !fixture.fetch("/c.png").failures.isEmpty)
            #expect(try await fixture.fetch("/d.png").failures.isEmpty)
            #expect(fixture.origin.requests("/b.png").isEmpty)
            for request in fixture.origin.requests() {
                for name in ["Authorization", "Cookie", "Referer"] {
                    #expect(request.headers[name] == nil, "\(name) is sent")
                }
            }
        }
    }
}
