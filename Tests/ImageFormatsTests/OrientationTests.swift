import ImageSamples
import Testing

@testable import ImageFormats

/// Sizes are those that a viewer shows. The rules about Exif are Chromium's, as far as it shows the format;
/// `TurnedImageTests` of the integration tests asks the browser itself.
@Suite("Images that are turned")
struct OrientationTests {
    /// The report on an image of these stored pixels.
    private func report(
        _ type: MediaType, _ width: Int, _ height: Int, turned orientation: Int,
        _ completeness: ImageReport.Completeness = .whole
    ) -> ImageReport {
        let (shownWidth, shownHeight) = orientation > 4 ? (height, width) : (width, height)
        return .init(type, shownWidth, shownHeight, completeness, orientation: orientation)
    }

    private func expect(_ bytes: Bytes, _ report: ImageReport, _ comment: Comment? = nil) {
        for feeding in [Feeding.whole, .byteByByte, .random(seed: 3)] {
            #expect(inspect(bytes, feeding) == report, comment)
        }
    }

    // MARK: Every format and orientation

    @Test(arguments: 1...8, [false, true])
    func exifTurnsJPEGAndPNG(_ number: Int, _ isBigEndian: Bool) {
        let block = exif(number, isBigEndian: isBigEndian)
        expect(
            ImageSample.jpegFile(exifSegment(block)), report(.jpeg, 500, 4, turned: number))
        expect(
            ImageSample.pngFile(pngChunk("eXIf", block)), report(.png, 300, 2, turned: number))
    }

    @Test(arguments: 1...8)
    func aTagTurnsTIFF(_ number: Int) {
        expect(
            ImageSample.tiffFile([orientationEntry(number)]),
            report(.tiff, 16, 4, turned: number, .unverifiable))
    }

    @Test(arguments: 1...8)
    func theHeaderTurnsJPEGXL(_ number: Int) {
        let codestream = ImageSample.jxlCodestream(number)
        expect(codestream, report(.jxl, 750, 500, turned: number, .unverifiable))
        expect(
            ImageSample.jxlHead + box("jxlc", codestream), report(.jxl, 750, 500, turned: number))
    }

    /// Rotations to the left and mirror images, with the orientation that equals both.
    @Test(
        arguments: [
            (0, nil, 1), (0, 0, 4), (0, 1, 2), (1, nil, 8), (1, 0, 5), (1, 1, 7), (2, nil, 3),
            (2, 0, 2),
            (2, 1, 4), (3, nil, 6), (3, 0, 7), (3, 1, 5), (nil, 0, 4), (nil, 1, 2),
        ] as [(UInt8?, UInt8?, Int)])
    func propertiesTurnAVIFAndHEIC(_ quarters: UInt8?, _ axis: UInt8?, _ number: Int) {
        let changes = [quarters.map(ImageSample.irot), axis.map(ImageSample.imir)].compactMap(
            \.self)
        for order in [changes, changes.reversed()] {
            expect(
                ImageSample.heif(["avif", "mif1"], order), report(.avif, 640, 480, turned: number))
            expect(
                ImageSample.heif(["heic", "mif1"], order), report(.heic, 640, 480, turned: number))
        }
    }

    @Test(arguments: 1...8)
    func theFlagsTurnAMinimizedImage(_ number: Int) {
        expect(
            ImageSample.minimized([0, 8 | UInt8(number - 1), 119, 89 << 1]),
            report(.avif, 120, 90, turned: number))
    }

    @Test func exifTurnsNoWebP() {
        let bytes = webp(
            riffChunk("VP8X", [8, 0, 0, 0], little24(70_000), little24(4)),
            ImageSample.webpKeyFrame,
            riffChunk("EXIF", exif(6)))
        expect(bytes, report(.webp, 70_001, 5, turned: 1))
    }

    @Test func exifBesideTheCodestreamTurnsNoJPEGXL() {
        let bytes = join(
            ImageSample.jxlHead, box("Exif", zeros(4), exif(6)),
            box("jxlc", ImageSample.jxlCodestream(1)))
        expect(bytes, report(.jxl, 750, 500, turned: 1))
    }

    // MARK: Which Exif counts

    @Test func theFirstExifOfAJPEGCounts() {
        let (six, one) = (exifSegment(exif(6)), exifSegment(exif(1)))
        let other = jpegSegment(0xE1, text("http://ns.adobe.com/xap/1.0/\0"), exif(3))
        let damaged = exifSegment(text("no directory"))
        for (segments, number) in [
            (six + one, 6), (one + six, 1), (other + six, 6), (damaged + six, 1),
            (exifSegment([]) + six, 1), (jpegSegment(0xE1) + six, 6),
            (jpegSegment(0xE1, text("Exif\0\u{1}"), exif(6)), 6),
            (jpegSegment(0xE1, text("exif\0\0"), exif(6)), 1), (jpegSegment(0xE2, six), 1),
        ] {
            expect(ImageSample.jpegFile(segments), report(.jpeg, 500, 4, turned: number))
        }
        expect(ImageSample.jpegFile([], six), report(.jpeg, 500, 4, turned: 6))
    }

    @Test func exifBehindTheFirstScanTurnsNoJPEG() {
        let whole = ImageSample.jpegFile()
        expect(
            join(Bytes(whole[..<(whole.count - 2)]), exifSegment(exif(6)), [0xFF, 0xD9]),
            report(.jpeg, 500, 4, turned: 1))
    }

    @Test func theFirstExifOfAPNGCounts() {
        let (six, one) = (pngChunk("eXIf", exif(6)), pngChunk("eXIf", exif(1)))
        for (chunks, number) in [
            (six + one, 6), (one + six, 1), (pngChunk("eXIf") + six, 1),
            (pngChunk("eXIf", text("Exif\0\0"), exif(6)), 1), (pngChunk("exIf", exif(6)), 1),
        ] {
            expect(ImageSample.pngFile(chunks), report(.png, 300, 2, turned: number))
        }
        expect(ImageSample.pngFile([], six), report(.png, 300, 2, turned: 1))
    }

    @Test func theFirstKnownOrientationCounts() {
        for (entries, number) in [
            ([orientationEntry(0), orientationEntry(6)], 6),
            ([orientationEntry(6), orientationEntry(1)], 6),
            ([orientationEntry(1, type: 4), orientationEntry(6)], 6),
            ([orientationEntry(1, count: 2), orientationEntry(6)], 6),
            ([ImageSample.tiffEntry(300, 1), orientationEntry(6)], 6),
        ] {
            expect(
                ImageSample.jpegFile(exifSegment(exif(entries))),
                report(.jpeg, 500, 4, turned: number))
            expect(
                ImageSample.tiffFile(entries), report(.tiff, 16, 4, turned: number, .unverifiable))
        }
    }

    // MARK: Damaged Exif

    private static let damaged: [Bytes] = [
        [], text("II"), exif(0), exif(9), exif(65_535), exif(256 + 6),
        exif([orientationEntry(6, type: 4)]), exif([orientationEntry(6, type: 1)]),
        exif([orientationEntry(6, count: 0)]), exif([orientationEntry(6, count: 2)]),
        exif([orientationEntry(6, count: 0xFFFF_FFFF)]),
        // The directory is inside the header, far away, or lacks its last byte.
        exif([orientationEntry(6)], at: 0), exif([orientationEntry(6)], at: 2),
        join(text("II*\0"), little32(0xFFFF_FFFF), exif(6)), Bytes(exif(6).dropLast(5)),
        // Many entries are promised, and there are none.
        exif([], count: 65_535),
        // BigTIFF, a wrong byte order, a wrong version.
        text("II+\0") + exif(6).dropFirst(4), text("MM") + exif(6).dropFirst(2),
        text("IM") + exif(6).dropFirst(2), text("II\0\0") + exif(6).dropFirst(4),
        // A directory that names itself as the next.
        exif([orientationEntry(0)]).dropLast(4) + little32(8),
    ]

    @Test(arguments: damaged)
    func damagedExifTurnsNothing(_ block: Bytes) {
        expect(
            ImageSample.jpegFile(exifSegment(block)), report(.jpeg, 500, 4, turned: 1), "\(block)")
        expect(
            ImageSample.pngFile(pngChunk("eXIf", block)), report(.png, 300, 2, turned: 1),
            "\(block)")
    }

    /// The rest of a directory that is cut off does not matter.
    @Test func exifCanBeLongFarOrCutBehindTheOrientation() {
        let entries = [orientationEntry(6)] + [Bytes](repeating: zeros(12), count: 400)
        for block in [
            exif([orientationEntry(6)], at: 3_000), exif([orientationEntry(6)], at: 9),
            exif(6) + zeros(60_000), exif([orientationEntry(6)], count: 65_535),
            Bytes(exif(6).dropLast(4)), exif(entries.reversed()),
        ] {
            expect(ImageSample.jpegFile(exifSegment(block)), report(.jpeg, 500, 4, turned: 6))
        }
        let huge = pngChunk("eXIf", exif([orientationEntry(6)], at: 300_000))
        #expect(inspect(ImageSample.pngFile(huge)) == report(.png, 300, 2, turned: 6))
    }

    // MARK: Crops

    /// Width and height of the part and the distances of its centre, as fractions, with the size of an AVIF and that of
    /// a HEIC.
    private static let crops: [(crop: [Int], avif: [Int], heic: [Int])] = [
        ([639, 1, 479, 1, -1, 2, -1, 2], [639, 479], [639, 479]),
        ([1278, 2, 958, 2, -1, 2, -1, 2], [639, 479], [639, 479]),
        ([1, 1, 1, 1, -639, 2, -479, 2], [1, 1], [1, 1]),
        ([640, 1, 480, 1, 0, 1, 0, 1], [640, 480], [640, 480]),
        // Chromium shows all of an AVIF unless its part starts at the corner.
        ([320, 1, 240, 1, 0, 1, 0, 1], [640, 480], [320, 240]),
        ([320, 1, 240, 1, 160, 1, 120, 1], [640, 480], [320, 240]),
        // Outside, broken pixels, no pixels, and denominators that are not greater than zero.
        ([320, 1, 240, 1, 161, 1, 0, 1], [640, 480], [640, 480]),
        ([641, 1, 480, 1, 0, 1, 0, 1], [640, 480], [640, 480]),
        ([641, 2, 480, 1, 0, 1, 0, 1], [640, 480], [640, 480]),
        ([0, 1, 480, 1, 0, 1, 0, 1], [640, 480], [640, 480]),
        ([-640, 1, 480, 1, 0, 1, 0, 1], [640, 480], [640, 480]),
        ([640, 0, 480, 1, 0, 1, 0, 1], [640, 480], [640, 480]),
        ([-640, -1, 480, 1, 0, 1, 0, 1], [640, 480], [640, 480]),
        ([640, 1, 480, 1, 0, 0, 0, 1], [640, 480], [640, 480]),
    ]

    @Test(arguments: crops.indices)
    func aCropShowsAPart(_ index: Int) {
        let row = Self.crops[index]
        let clap = box("clap", Bytes(row.crop.map { big32($0) }.joined()))
        for (brand, type, size) in [
            ("avif", MediaType.avif, row.avif), ("heic", .heic, row.heic),
        ] {
            expect(
                ImageSample.heif([brand, "mif1"], [clap]),
                report(type, size[0], size[1], turned: 1), "\(row)")
            // The order of the properties is always: crop, rotate, mirror.
            expect(
                ImageSample.heif([brand, "mif1"], [ImageSample.irot(3), clap]),
                report(type, size[0], size[1], turned: 6), "\(row)")
        }
    }

    @Test func aCropOfTheLargestNumbersTrapsNothing() {
        let numbers = [Int(Int32.max), Int(Int32.min), -1, 1, 0]
        for a in numbers {
            for b in numbers {
                let crop = ImageSample.clap(a, b, b, a, a, 1, 1, b)
                #expect(inspect(ImageSample.heif(["heic"], [crop])).completeness == .whole)
            }
        }
    }

    // MARK: While the bytes arrive

    /// A list that reserves space for an image would jump if the sides were exchanged later.
    @Test(arguments: ImageSample.all)
    func theShapeNeverChangesOnceItIsTold(_ sample: ImageSample) {
        var inspector = ImageInspector()
        var told: ImageShape?
        for byte in sample.bytes {
            [byte].withUnsafeBytes { inspector.consume($0) }
            guard let shape = inspector.shape, shape.width != nil else {
                #expect(told == nil)
                continue
            }
            #expect(told == nil || told == shape)
            told = shape
        }
        let report = inspector.finish()
        guard let told else { return }
        #expect(told.width == report.width && told.height == report.height)
        #expect(told.orientation == report.orientation)
    }

    /// The limit of pixels is that of the decoder, which needs memory for those that a crop hides too.
    @Test func theStoredSizeIsKnownBeforeTheShape() {
        var inspector = ImageInspector()
        let frame = ImageSample.jpegFile([], jpegSegment(0xFE, zeros(20))).prefix(30)
        Bytes(frame).withUnsafeBytes { inspector.consume($0) }
        #expect(inspector.storedSize == PixelSize(500, 4))
        #expect(inspector.shape == ImageShape(mediaType: .jpeg))
        inspector = ImageInspector()
        let crop = ImageSample.clap(1, 1, 1, 1, 0, 1, 0, 1)
        ImageSample.heif(["heic"], [crop]).withUnsafeBytes { inspector.consume($0) }
        #expect(inspector.storedSize == PixelSize(640, 480))
        #expect(inspector.shape == ImageShape(mediaType: .heic, width: 1, height: 1))
    }
}
