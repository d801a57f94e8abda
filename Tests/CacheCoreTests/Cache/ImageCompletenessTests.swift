import CacheValues
import ImageFormats
import ImageSamples
import TestSupport
import Testing

@testable import CacheCore
@testable import CacheDisk
@testable import CacheFetching

/// Images that are complete or not by their own account, with and without a length from the server.
@Suite("Cache: completeness of images", .timeLimit(.minutes(5)))
struct ImageCompletenessTests {
    @Test(arguments: [ImageSample.tiffStrips, .avifMinimized, avifWithOpenData])
    func anImageThatSaysWhereItEndsNeedsNoLength(_ sample: ImageSample) async throws {
        #expect(try await failure(.closeDelimited(sample.bytes)) == nil)
        #expect(try await failure(.closeDelimited(Array(sample.bytes.dropLast()))) == .truncated)
    }

    @Test(arguments: malformed)
    func aMalformedImageIsRefusedHoweverItsBodyEnds(_ image: [UInt8]) async throws {
        #expect(try await failure(.answer(body: image)) == .notAnImage)
        #expect(try await failure(.chunked(image)) == .notAnImage)
        #expect(try await failure(.closeDelimited(image)) == .notAnImage)
    }

    /// The size of the box with the data means that it reaches to the end of the file.
    private static let avifWithOpenData: ImageSample = {
        let whole = ImageSample.avif.bytes
        return ImageSample(
            "avif with open data", .avif, 640, 480,
            Array(whole.dropLast(28)), [0, 0, 0, 0], Array(whole.suffix(24)))
    }()

    /// A PNG with a depth of 0 bits, a WebP of 0 bytes by its header, and an SVG with text behind its root.
    private static let malformed: [[UInt8]] = {
        var (png, webp) = (ImageSample.png.bytes, ImageSample.webpLossy.bytes)
        png[24] = 0
        webp.replaceSubrange(4..<8, with: [0, 0, 0, 0])
        return [png, webp, ImageSample.svg.bytes + Array("text".utf8)]
    }()

    private func failure(_ script: OriginScript) async throws -> Failure.Kind? {
        try await withTestScope { scope in
            let fixture = try CacheFixture(in: scope) { $0.transfers.acceptsSVG = true }
            fixture.origin.route("/image", script)
            return try await fixture.fetch("/image").failures.values.first?.kind
        }
    }
}
