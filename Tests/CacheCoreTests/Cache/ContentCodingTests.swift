import CacheValues
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Bodies with a content coding, although none was asked for (RFC 9110 §8.4, §12.5.3).
@Suite("Cache: content codings", .timeLimit(.minutes(5)))
struct ContentCodingTests {
    private let image = SampleImage.png(byteCount: 200_000)

    private func compressed(
        _ bytes: [UInt8], by program: String = "gzip", _ scope: TestScope
    ) async throws -> [UInt8] {
        let file = try TemporaryDirectory(in: scope).write(bytes, to: "body")
        if program == "gzip" {
            _ = try await runSuccessfully("gzip", [file])
            return try contents(of: file + ".gz")
        }
        _ = try await runSuccessfully(
            "python3",
            [
                "-c",
                "import sys, zlib; p = sys.argv[1]; "
                    + "open(p + '.z', 'wb').write(zlib.compress(open(p, 'rb').read()))",
                file,
            ])
        return try contents(of: file + ".z")
    }

    @Test(arguments: [
        ("gzip", "gzip"), ("gzip", "x-gzip"), ("gzip", "GZip"), ("zlib", "deflate"),
        ("gzip", "identity, gzip"),
    ])
    func aCodedBodyIsUnpacked(program: String, coding: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let body = try await compressed(image, by: program, scope)
            fixture.origin.route(
                "/a.png", .answer(headers: ["Content-Encoding": coding], body: body))
            fixture.origin.route(
                "/b.png", .chunked(body, headers: ["Content-Encoding": coding, "ETag": "\"1\""]))
            #expect(try await fixture.fetch("/a.png", "/b.png").failures.isEmpty)
            for path in ["/a.png", "/b.png"] {
                #expect(try contents(of: fixture.file(path)) == image)
                guard case .cached(let facts, _, _) = try fixture.lookup(path) else {
                    Issue.record("\(path) is not cached")
                    continue
                }
                #expect(facts.size == Int64(image.count))
            }
            #expect(await fixture.verify().damaged.isEmpty)
            for request in fixture.origin.requests() {
                #expect(request.headers["Accept-Encoding"] == "identity")
            }
        }
    }

    @Test(arguments: ["UTF-8", "none", "binary", "aws-chunked", "identity, identity", "", "base64"])
    func anUnknownCodingIsNoCoding(coding: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route(
                "/a.png", .answer(headers: ["Content-Encoding": coding], body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            // libcurl 8 cannot change its mind once the head is there, so it is asked again.
            #expect(fixture.origin.requests().count <= 2)
        }
    }

    /// Servers that label every file so send the bytes as they are.
    @Test(arguments: ["gzip", "br", "deflate"])
    func aBodyThatIsNotCodedAsItsLabelSaysIsTakenAsItIs(coding: String) async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            fixture.origin.route(
                "/a.png", .answer(headers: ["Content-Encoding": coding], body: image))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(try contents(of: fixture.file("/a.png")) == image)
            #expect(fixture.origin.requests().count == 2)
        }
    }

    /// The number of the bytes that were unpacked says nothing about the coded body.
    @Test func aCodedPartialIsNotContinued() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope)
            let body = try await compressed(image, scope)
            let headers: HeaderFields = ["Content-Encoding": "gzip", "ETag": "\"1\""]
            fixture.origin.route(
                "/a.png", .cut(body, after: body.count - 1000, headers: headers))
            #expect(try await fixture.fetch("/a.png").failures.values.map(\.kind) == [.truncated])
            fixture.origin.route("/a.png", .answer(headers: headers, body: body))
            #expect(try await fixture.fetch("/a.png").failures.isEmpty)
            #expect(fixture.origin.requests().allSatisfy { $0.headers["Range"] == nil })
            #expect(try contents(of: fixture.file("/a.png")) == image)
        }
    }

    /// 100 MB of zeros behind the beginning of an image have 100 kB.
    @Test func aBombIsNotUnpackedToItsEnd() async throws {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.limits.maximumImageSize = 1 << 30 }
            let start = ImageSamplePrefix.bmp
            let bomb = try await compressed(
                start + [UInt8](repeating: 0, count: 100_000_000), scope)
            fixture.origin.route(
                "/a.bmp", .answer(headers: ["Content-Encoding": "gzip"], body: bomb))
            let failure = try #require(try await fixture.fetch("/a.bmp").failures.values.first)
            #expect(failure.kind == .protocolError)
            #expect(failure.message.contains("100 times"))
            #expect(fixture.cache.statistics().bytesReceived < 40_000_000)
        }
    }
}

/// The beginning of a file that claims to be a large image.
private enum ImageSamplePrefix {
    /// A file header and a BITMAPINFOHEADER for 10,000 by 10,000 pixels of 8 bits.
    static let bmp: [UInt8] =
        [0x42, 0x4D, 0, 0, 0, 0, 0, 0, 0, 0, 54, 4, 0, 0]
        + [40, 0, 0, 0, 0x10, 0x27, 0, 0, 0x10, 0x27, 0, 0, 1, 0, 8, 0, 0, 0, 0, 0]
        + [UInt8](repeating: 0, count: 20)
}
