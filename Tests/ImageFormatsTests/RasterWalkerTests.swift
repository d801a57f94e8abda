import ImageSamples
import TestSupport
import Testing

@testable import ImageFormats

@Suite("PNG, JPEG, GIF, WebP and BMP")
struct RasterWalkerTests {
    @Test func pngWithoutDataIsNotWhole() {
        let bytes =
            Bytes(ImageSample.png.bytes.prefix(33)) + pngChunk("tEXt", zeros(9))
            + pngChunk("IEND", [])
        #expect(inspect(bytes) == .init(.png, 300, 2, .empty))
    }

    @Test func pngWithAnEmptyDataChunkIsEmpty() {
        let bytes =
            Bytes(ImageSample.png.bytes.prefix(33)) + pngChunk("IDAT") + pngChunk("IEND")
        #expect(inspect(bytes) == .init(.png, 300, 2, .empty))
    }

    @Test(arguments: [
        pngChunk("IHDR", big32(0), big32(2), zeros(5)),
        pngChunk("IHDR", big32(300), big32(1 << 31), zeros(5)),
        pngChunk("IHDR", big32(300), big32(2)),
        pngChunk("IHDR", big32(300), big32(2), zeros(6)),
        pngChunk("IDAT", [1, 2, 3]),
    ])
    func pngWithoutAHeaderBeforeItsDataIsEmpty(_ header: Bytes) {
        let head = Bytes(ImageSample.png.bytes.prefix(8))
        let bytes = join(head, header, pngChunk("IDAT", [1, 2, 3]), pngChunk("IEND"))
        #expect(inspect(bytes) == .init(.png, nil, nil, .empty))
    }

    @Test func pngHasTheSizeOfItsFirstHeader() {
        let second = pngChunk("IHDR", big32(9_999), big32(9_999), zeros(5))
        let bytes = join(Bytes(ImageSample.png.bytes.dropLast(12)), second, pngChunk("IEND"))
        #expect(inspect(bytes) == ImageSample.png.report)
    }

    /// Some phones write such files.
    @Test func pngHeaderCanComeSecond() {
        let bytes = ImageSample.png.bytes
        let odd = join(
            Bytes(bytes.prefix(8)), pngChunk("CgBI", zeros(4)), Bytes(bytes.dropFirst(8)))
        #expect(inspect(odd) == ImageSample.png.report)
    }

    @Test func pngWithANamelessChunkIsTruncated() {
        let bytes = Bytes(ImageSample.png.bytes.dropLast(12)) + zeros(12) + pngChunk("IEND", [])
        #expect(inspect(bytes).completeness == .truncated)
    }

    /// The five fields are bit depth, colour type, and the methods of compression, filter and interlace.
    @Test(
        arguments: [
            [0, 2, 0, 0, 0], [4, 2, 0, 0, 0], [8, 1, 0, 0, 0], [8, 5, 0, 0, 0], [16, 3, 0, 0, 0],
            [2, 4, 0, 0, 0], [1, 6, 0, 0, 0], [8, 7, 0, 0, 0], [8, 2, 1, 0, 0], [8, 2, 0, 64, 0],
            [8, 2, 0, 0, 2], [8, 2, 0, 0, 7],
        ] as [Bytes])
    func pngWithAnImpossibleHeaderIsMalformed(_ fields: Bytes) {
        for feeding in Feeding.all {
            #expect(inspect(png(fields), feeding) == .init(.png, 300, 2, .malformed))
        }
    }

    @Test func everyDefinedKindOfPNGIsWhole() {
        let kinds: [(UInt8, Bytes)] = [
            (0, [1, 2, 4, 8, 16]), (2, [8, 16]), (3, [1, 2, 4, 8]), (4, [8, 16]), (6, [8, 16]),
        ]
        for (colorType, depths) in kinds {
            for (depth, interlace) in zip(depths, [0, 1, 0, 1, 0] as Bytes) {
                let report = inspect(png([depth, colorType, 0, 0, interlace]))
                #expect(report == .init(.png, 300, 2, .whole), "\(colorType), \(depth)")
            }
        }
    }

    private func png(_ fields: Bytes) -> Bytes {
        var bytes = ImageSample.png.bytes
        bytes.replaceSubrange(24..<29, with: fields)
        return bytes
    }

    @Test(arguments: [ImageSample.jpeg, .gif, .png, .bmp])
    func formatsThatDecodersShowPartlyAreNeverCut(_ sample: ImageSample) {
        let reports = (18..<sample.bytes.count).map {
            inspect(sample.bytes.prefix($0)).completeness
        }
        let shown = reports.drop { $0 == .empty }
        #expect(shown.count >= 6)
        #expect(shown.allSatisfy { $0 == .truncated })
    }

    /// Each image has at least one byte to draw, and none has less.
    @Test(arguments: [(ImageSample.png, 65), (.bmp, 54)])
    func anImageWithoutAByteOfItsPixelsIsEmpty(_ sample: ImageSample, _ pixels: Int) {
        #expect(inspect(sample.bytes.prefix(pixels)).completeness == .empty)
        #expect(inspect(sample.bytes.prefix(pixels + 1)).completeness == .truncated)
    }

    @Test func jpegEndsInThumbnailsAndTablesDoNotCount() {
        #expect(inspect(ImageSample.jpegHead) == .init(.jpeg, 500, 4, .empty))
        #expect(inspect(ImageSample.jpegHead + [0xFF, 0xD9]).completeness == .empty)
    }

    @Test(arguments: [[], [0xFF, 0xD9], [0xFF], [0xFF, 0xD0, 0xFF, 0xD9]])
    func jpegWithoutAByteOfDataIsEmpty(_ rest: Bytes) {
        let head = ImageSample.jpegHead + jpegSegment(0xDA, zeros(6))
        #expect(inspect(head + rest, .byteByByte) == .init(.jpeg, 500, 4, .empty))
        #expect(inspect(head.dropLast(7)).completeness == .empty)
        #expect(inspect(head + [7] + rest).completeness != .empty)
        #expect(inspect(head + [0xFF, 0] + rest).completeness != .empty)
    }

    @Test func jpegPreviewAfterTheEndIsTrailing() {
        let report = inspect(ImageSample.jpeg.bytes + ImageSample.jpeg.bytes)
        #expect(report == .init(.jpeg, 500, 4, .whole, trailing: true))
    }

    @Test func jpegLinesCanComeAfterTheFirstScan() {
        let bytes =
            [0xFF, 0xD8] + ImageSample.jpegFrame(lines: 0) + jpegSegment(0xDA, zeros(6)) + [
                1, 2, 3,
            ]
            + jpegSegment(0xDC, big16(77)) + [0xFF, 0xD9]
        #expect(inspect(bytes) == .init(.jpeg, 500, 77, .whole))
    }

    /// The bytes between the scans look like the header of a frame with 50,132 by 62,881 pixels.
    @Test func jpegHasTheSizeOfItsFirstFrame() {
        let frame = jpegSegment(0xC3, [8, 0xF5, 0xA1, 0xC3, 0xD4, 3, 1, 0x11, 0])
        let bytes = join(ImageSample.jpegHead, ImageSample.jpegScans, frame, [7, 0xFF, 0xD9])
        for feeding in Feeding.all { #expect(inspect(bytes, feeding) == ImageSample.jpeg.report) }
    }

    @Test func jpegStrayBytesBetweenSegmentsAreSkipped() {
        let bytes = ImageSample.jpegHead + [0, 1, 2] + ImageSample.jpegScans + [0xFF, 0xD9]
        #expect(inspect(bytes) == ImageSample.jpeg.report)
    }

    @Test func gifWithoutAScreenSizeHasTheSizeOfItsFirstImage() {
        var bytes = ImageSample.gif.bytes
        bytes.replaceSubrange(6..<10, with: zeros(4))
        #expect(inspect(bytes) == ImageSample.gif.report)
    }

    /// The sizes are those of Chromium. The second image, which leaves the screen as well, changes nothing.
    @Test(arguments: [
        ((40, 40), (0, 0), (300, 40)), ((40, 40), (10, 20), (310, 40)),
        ((400, 10), (100, 15), (400, 21)), ((0, 0), (5, 7), (305, 13)),
        ((400, 90), (3, 4), (400, 90)),
    ])
    func gifIsAsLargeAsItsScreenAndItsFirstImage(
        _ screen: (Int, Int), _ corner: (Int, Int), _ size: (Int, Int)
    ) {
        var bytes = ImageSample.gif.bytes
        bytes.replaceSubrange(6..<10, with: little16(screen.0) + little16(screen.1))
        bytes.replaceSubrange(26..<30, with: little16(corner.0) + little16(corner.1))
        let second = join(
            [0x2C], little16(9_000), little16(9_000), little16(1), little16(1), [0, 2, 1, 7, 0])
        let report = inspect(bytes.dropLast() + second + [0x3B])
        #expect(report == .init(.gif, size.0, size.1, .whole))
    }

    @Test(arguments: [
        [2, 0, 0x3B], [2], [], [2, 1], [2, 0, 0x21, 0xFE, 1, 7, 0, 0x3B], [13, 1, 7, 0],
    ])
    func gifWithoutAByteOfDataIsEmpty(_ rest: Bytes) {
        let head = join(text("GIF89a"), little16(3), little16(4), zeros(3), [0x2C], zeros(9))
        #expect(inspect(head + rest) == .init(.gif, 3, 4, .empty))
        #expect(inspect(head + [2, 1, 7] + rest).completeness != .empty)
    }

    @Test func webpChunkMustNotExceedItsFile() {
        var bytes = ImageSample.webpLossy.bytes
        bytes[17] = 1
        #expect(inspect(bytes).completeness == .malformed)
    }

    /// The last chunk of the first file has an odd length. Decoders need its padding only if the file counts it.
    @Test func webpHasToBeAsLongAsItSays() {
        let padded = ImageSample.webpLossy.bytes
        #expect(inspect(padded.dropLast()) == .init(.webp, 320, 9, .cut))
        #expect(
            inspect(ofLength(padded.count - 9, padded).dropLast()) == ImageSample.webpLossy.report)
        for sample in [ImageSample.webpLossless, .webpExtended, .webpAnimated] {
            #expect(inspect(sample.bytes.dropLast()).completeness == .cut, "\(sample)")
        }
    }

    @Test(arguments: [0, 4, 20])
    func webpWithALengthBelowItsImageIsMalformed(_ length: Int) {
        let bytes = ofLength(length, ImageSample.webpLossy.bytes)
        #expect(inspect(bytes) == .init(.webp, 320, 9, .malformed))
    }

    @Test func everyFrameOfAWebPHasToBeInTheFile() {
        let frame = riffChunk("ANMF", zeros(16), ImageSample.webpPixels)
        let bytes = webp(ImageSample.webpCanvas, frame, frame)
        #expect(inspect(bytes) == .init(.webp, 70_001, 5, .whole))
        let size = bytes.count - 8
        #expect(inspect(ofLength(size - 2, bytes)) == .init(.webp, 70_001, 5, .malformed))
        let report = inspect(ofLength(size - frame.count, bytes))
        #expect(report == .init(.webp, 70_001, 5, .whole, trailing: true))
    }

    /// Writes `length` into the header of a WebP.
    private func ofLength(_ length: Int, _ webp: Bytes) -> Bytes {
        var webp = webp
        webp.replaceSubrange(4..<8, with: little32(length))
        return webp
    }

    @Test(arguments: [
        riffChunk("VP8 ", [1, 0, 0, 0x9D, 1, 0x2A], little16(320), little16(9), [7]),
        riffChunk("VP8 ", [0, 0, 0, 0x9D, 1, 0x2B], little16(320), little16(9), [7]),
        riffChunk("VP8L", [0x2E], zeros(7)), riffChunk("EXIF", zeros(20)), [],
    ])
    func webpWithoutAnImageIsEmpty(_ chunk: Bytes) {
        #expect(inspect(webp(chunk) + zeros(20)).completeness == .empty)
        let extended = webp(ImageSample.webpCanvas, riffChunk("ICCP", [1]), chunk)
        #expect(inspect(extended) == .init(.webp, 70_001, 5, .empty))
    }

    @Test(arguments: [ImageSample.webpKeyFrame, riffChunk("ANMF", zeros(16))])
    func webpImageBehindItsSizeMustNotExceedTheFile(_ chunk: Bytes) {
        var bytes = webp(ImageSample.webpCanvas, chunk)
        bytes[35] = 1
        #expect(inspect(bytes) == .init(.webp, 70_001, 5, .malformed))
    }

    @Test func bmpLengthComesFromTheDimensions() {
        var bytes = ImageSample.bmp.bytes
        bytes.replaceSubrange(2..<6, with: little32(7))
        #expect(inspect(bytes) == ImageSample.bmp.report)
        bytes.replaceSubrange(2..<6, with: little32(bytes.count + 2))
        #expect(inspect(bytes + zeros(2)) == ImageSample.bmp.report)
        #expect(inspect(bytes + zeros(3)).hasTrailingBytes)
    }

    @Test(arguments: [0, 3, 25, 65_535])
    func bmpWithAnUndefinedDepthIsEmpty(_ bits: Int) {
        let plain = ImageSample.bmpFile(bits: bits, compression: 0, pixels: 50_000)
        #expect(inspect(plain) == .init(.bmp, 3, 2, .empty))
        let jpeg = ImageSample.bmpFile(bits: bits, compression: 4, pixels: 9, byteCount: 9)
        #expect(inspect(jpeg) == .init(.bmp, 3, 2, .whole))
    }

    @Test func compressedBMPEndsAtItsStatedLength() {
        let told = ImageSample.bmpFile(bits: 8, compression: 1, pixels: 9, byteCount: 9)
        #expect(inspect(told) == .init(.bmp, 3, 2, .whole))
        #expect(inspect(told.dropLast()).completeness == .truncated)
        #expect(inspect(told.dropLast(8)).completeness == .truncated)
        #expect(inspect(told.dropLast(9)).completeness == .empty)
        let jpeg = ImageSample.bmpFile(bits: 0, compression: 4, pixels: 9, byteCount: 9)
        #expect(inspect(jpeg.dropLast(4)).completeness == .truncated)
        let untold = ImageSample.bmpFile(bits: 8, compression: 1, pixels: 9)
        #expect(inspect(untold) == .init(.bmp, 3, 2, .unverifiable))
        #expect(inspect(untold.dropLast(8)) == .init(.bmp, 3, 2, .unverifiable))
        #expect(inspect(untold.dropLast(9)) == .init(.bmp, 3, 2, .empty))
    }

    @Test(arguments: 0..<40)
    func firstIndexAgreesWithAPlainLoop(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let range: ClosedRange<UInt8> = seed.isMultiple(of: 2) ? 0xFC...0xFF : 0...3
        let bytes = (0..<64).map { _ in UInt8.random(in: range, using: &generator) }
        bytes.withUnsafeBytes { buffer in
            for start in 0...64 {
                let expected = bytes[start...].firstIndex(of: range.upperBound) ?? 64
                #expect(buffer.firstIndex(of: range.upperBound, from: start) == expected)
            }
        }
    }
}
