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

    /// The last chunk has 12 bytes, and so has the empty one before it.
    @Test func pngWithoutItsLastChunkIsNotCut() {
        let bytes = ImageSample.png.bytes
        for missing in [1, 4, 12] {
            #expect(inspect(bytes.dropLast(missing)).completeness == .truncated, "\(missing)")
        }
        for missing in [13, 16, 25, 30] {
            #expect(inspect(bytes.dropLast(missing)).completeness == .cut, "\(missing)")
        }
    }

    @Test(arguments: [ImageSample.jpeg, .gif])
    func formatsThatDecodersShowPartlyAreNeverCut(_ sample: ImageSample) {
        let reports = (12..<sample.bytes.count).map {
            inspect(sample.bytes.prefix($0)).completeness
        }
        let shown = reports.drop { $0 == .empty }
        #expect(shown.count >= 6)
        #expect(shown.allSatisfy { $0 == .truncated })
    }

    @Test func missingPaddingIsNotACut() {
        let webp = ImageSample.webpLossy.bytes
        #expect(inspect(webp.dropLast()).completeness == .truncated)
        #expect(inspect(webp.dropLast(2)).completeness == .cut)
        let bmp = ImageSample.bmp.bytes
        #expect(inspect(bmp.dropLast(3)).completeness == .truncated)
        #expect(inspect(bmp.dropLast(4)).completeness == .cut)
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

    @Test func jpegStrayBytesBetweenSegmentsAreSkipped() {
        let bytes = ImageSample.jpegHead + [0, 1, 2] + ImageSample.jpegScans + [0xFF, 0xD9]
        #expect(inspect(bytes) == ImageSample.jpeg.report)
    }

    @Test func gifWithoutAScreenSizeHasTheSizeOfItsFirstImage() {
        var bytes = ImageSample.gif.bytes
        bytes.replaceSubrange(6..<10, with: zeros(4))
        #expect(inspect(bytes) == ImageSample.gif.report)
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
        #expect(inspect(bytes).completeness == .cut)
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
        #expect(inspect(bytes) == .init(.webp, 70_001, 5, .cut))
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
        #expect(inspect(jpeg.dropLast(4)).completeness == .cut)
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
