internal import ImageFormats

extension ImageSample {
    package static let png = ImageSample(
        "png", .png, 300, 2,
        [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A],
        pngChunk("IHDR", big32(300), big32(2), [8, 2, 0, 0, 0]),
        pngChunk("tEXt", text("Comment\0IEND")), pngChunk("IDAT", [1, 2, 3]),
        pngChunk("IDAT", []), pngChunk("IEND", []))

    /// Two scans, a thumbnail, a restart marker, a stuffed zero and fill bytes.
    package static let jpeg = ImageSample("jpeg", .jpeg, 500, 4, jpegHead, jpegScans, [0xFF, 0xD9])

    package static let jpegHead = join(
        [0xFF, 0xD8], jpegSegment(0xE0, text("JFIF\0"), zeros(9)),
        jpegSegment(0xE1, text("Exif\0\0"), [0xFF, 0xD8, 0xFF, 0xC0, 0xFF, 0xD9]),
        jpegFrame(lines: 4))

    package static let jpegScans = join(
        jpegSegment(0xDA, [1, 1, 0, 0, 63, 0]), [1, 2, 0xFF, 0, 3, 0xFF, 0xD0, 4],
        [0xFF], jpegSegment(0xC4, [0xFF, 0xD9]), jpegSegment(0xDA, [1, 1, 0, 0, 63, 0]),
        [5, 6, 0xFF, 0, 0xFF])

    package static func jpegFrame(lines: Int) -> Bytes {
        jpegSegment(0xC2, [8], big16(lines), big16(500), [1, 1, 0x11, 0])
    }

    package static let gif = ImageSample(
        "gif", .gif, 300, 6,
        text("GIF89a"), little16(300), little16(6), [0x80, 0, 0], zeros(6),
        [0x21, 0xFE, 2, 0x3B, 0x3B, 0], [0x2C], little16(0), little16(0),
        little16(300), little16(6), [0x81], zeros(12), [2, 3, 0x3B, 0, 0x3B, 1, 9, 0],
        [0x3B])

    package static let webpLossy = ImageSample("webp VP8", .webp, 320, 9, webp(webpKeyFrame))

    package static let webpLossless = ImageSample("webp VP8L", .webp, 16_384, 3, webp(webpPixels))

    package static let webpExtended = ImageSample(
        "webp VP8X", .webp, 70_001, 5,
        webp(webpCanvas, riffChunk("ALPH", [1, 2, 3]), webpKeyFrame, riffChunk("EXIF", [4])))

    package static let webpAnimated = ImageSample(
        "webp animated", .webp, 70_001, 5,
        webp(webpCanvas, riffChunk("ANIM", zeros(6)), riffChunk("ANMF", zeros(16), webpPixels)))

    package static let webpKeyFrame = riffChunk(
        "VP8 ", [0, 0, 0, 0x9D, 1, 0x2A], little16(320 | 0x4000), little16(9), [7])
    package static let webpPixels = riffChunk(
        "VP8L", [0x2F], little32(16_383 | 2 << 14), [1, 2, 3])
    package static let webpCanvas = riffChunk("VP8X", zeros(4), little24(70_000), little24(4))

    package static let bmp = ImageSample(
        "bmp", .bmp, 3, 2, bmpFile(bits: 24, compression: 0, pixels: 24))

    package static let bmpCore = ImageSample(
        "bmp core", .bmp, 9, 2,
        text("BM"), zeros(8), little32(26), little32(12), little16(9), little16(2),
        little16(1), little16(1), zeros(8))

    /// Three by two pixels, the top row first.
    package static func bmpFile(bits: Int, compression: Int, pixels: Int, byteCount: Int = 0)
        -> Bytes
    {
        join(
            text("BM"), zeros(8), little32(54), little32(40), little32(3), little32(-2),
            little16(1), little16(bits), little32(compression), little32(byteCount),
            zeros(16), zeros(pixels))
    }

    /// A JPEG of 500 by 4 stored pixels with these segments before its frame and behind it.
    package static func jpegFile(_ before: Bytes = [], _ after: Bytes = []) -> Bytes {
        join([0xFF, 0xD8], before, jpegFrame(lines: 4), after, jpegScans, [0xFF, 0xD9])
    }

    /// A PNG of 300 by 2 stored pixels with these chunks before its data and behind it.
    package static func pngFile(_ before: Bytes = [], _ after: Bytes = []) -> Bytes {
        join(
            Bytes(png.bytes.prefix(33)), before, pngChunk("IDAT", [1, 2, 3]), after,
            pngChunk("IEND"))
    }

    package static let jpegTurned = ImageSample(
        "jpeg with Exif", .jpeg, 4, 500, orientation: 6, jpegFile(exifSegment(exif(6))))

    package static let pngTurned = ImageSample(
        "png with Exif", .png, 2, 300, orientation: 8,
        pngFile(pngChunk("eXIf", exif(8, isBigEndian: true))))

    package static let raster = [
        png, jpeg, gif, webpLossy, webpLossless, webpExtended, webpAnimated, bmp, bmpCore,
        jpegTurned,
        pngTurned,
    ]
}
