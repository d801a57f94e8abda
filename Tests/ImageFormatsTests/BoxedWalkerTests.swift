import ImageFormats
import ImageSamples
import Testing

@Suite("AVIF, HEIC and JPEG XL")
struct BoxedWalkerTests {
    @Test(arguments: [
        (["avif", "mif1", "miaf"], MediaType.avif), (["avis", "msf1"], .avif),
        (["mif1", "avif"], .avif), (["mif1"], .heic), (["msf1", "hevc"], .heic),
        (["heic", "mif1", "avif"], .heic), (["MiHB", "heix"], .heic), (["mif3", "avif"], .avif),
    ])
    func brandsTellTheMediaType(_ brands: [String], _ type: MediaType) {
        #expect(inspect(ImageSample.heif(brands)) == .init(type, 640, 480, .whole))
    }

    @Test func heifDetectsMissingData() {
        let bytes = ImageSample.avif.bytes
        #expect(inspect(bytes.dropLast(28)).completeness == .empty)
        let shortData = Bytes(bytes.dropLast(28)) + box("mdat", Bytes(1...19))
        #expect(inspect(shortData).completeness == .cut)
    }

    /// In the last file, the second item is in the second `mdat`.
    @Test(arguments: [
        ImageSample.avif.bytes, ImageSample.jxlContainer.bytes,
        ImageSample.avif.bytes.dropLast(28) + box("mdat", Bytes(1...8))
            + box("mdat", Bytes(1...12)),
    ])
    func everyMissingBoxOrHeaderIsDetected(_ bytes: Bytes) {
        #expect(inspect(bytes).completeness == .whole)
        for length in 40..<bytes.count {
            let completeness = inspect(bytes.prefix(length)).completeness
            #expect(completeness == .cut || completeness == .empty, "\(length)")
        }
    }

    @Test func openEndedBoxHasToContainAllItems() {
        let data = big32(0) + text("mdat") + Bytes(1...19)
        let bytes = Bytes(ImageSample.avif.bytes.dropLast(28)) + data
        #expect(inspect(bytes).completeness == .cut)
    }

    @Test func furtherBoxesBelongToTheImage() {
        let report = inspect(ImageSample.heic.bytes + box("free", zeros(5)))
        #expect(report == ImageSample.heic.report)
    }

    @Test(arguments: [ImageSample.avif, .jxlContainer], 1...9)
    func fewBytesBehindTheImageAreTrailing(_ sample: ImageSample, _ count: Int) {
        let report = inspect(sample.bytes + Bytes(repeating: 7, count: count), .byteByByte)
        #expect(report.completeness == .whole)
        #expect(report.hasTrailingBytes)
    }

    /// The first bytes of the text look like a length far beyond the file.
    @Test(arguments: [ImageSample.avif, .jxlContainer])
    func textBehindTheImageIsNotACut(_ sample: ImageSample) {
        let report = inspect(sample.bytes + text("some text behind it"))
        #expect(report.completeness == .truncated)
    }

    @Test func largeSizesAreSixtyFourBitsWide() {
        let data = big32(1) + text("mdat") + big64(36) + Bytes(1...20)
        let bytes = Bytes(ImageSample.avif.bytes.dropLast(28)) + data
        #expect(inspect(bytes) == ImageSample.avif.report)
        #expect(inspect(bytes.dropLast()).completeness == .cut)
    }

    /// The data reaches to the end of the file, but the locations say which bytes of it are needed.
    @Test func openEndedDataEndsWithItsLastItem() {
        let data = big32(0) + text("mdat") + Bytes(1...20)
        let bytes = Bytes(ImageSample.avif.bytes.dropLast(28)) + data
        for feeding in Feeding.all { #expect(inspect(bytes, feeding) == ImageSample.avif.report) }
        #expect(inspect(bytes + [7]) == ImageSample.avif.report)
        for length in (bytes.count - 19)..<bytes.count {
            #expect(inspect(bytes.prefix(length)).completeness == .cut, "\(length)")
        }
    }

    /// The locations are missing, reach to the end of the file, lack one of two items, or have none.
    @Test(
        arguments: [
            [],
            fullBox("iloc", [0x44, 0], big16(1), big16(1), big16(0), big16(1), big32(8), big32(0)),
            fullBox("iloc", [0x40, 0], big16(1), big16(1), big16(0), big16(1), big32(8)),
            fullBox("iloc", [0x44, 0], big16(2), big16(1), big16(0), big16(1), big32(8), big32(1)),
            fullBox("iloc", [0x44, 0], big16(0)),
        ] as [Bytes])
    func openEndedDataWithoutAnEndIsUnverifiable(_ locations: Bytes) {
        let ftyp = box("ftyp", text("avif"), zeros(4))
        let meta = fullBox("meta", fullBox("pitm", big16(1)), locations)
        let data = big32(0) + text("mdat") + Bytes(1...20)
        #expect(inspect(join(ftyp, meta, data)) == .init(.avif, nil, nil, .unverifiable))
    }

    @Test func openEndedDataOfASequenceIsUnverifiable() {
        let bytes = ImageSample.avif.bytes.dropLast(28)
        let data = big32(0) + text("mdat") + Bytes(1...40)
        let report = inspect(bytes + box("moov", zeros(9)) + data)
        #expect(report == .init(.avif, 640, 480, .unverifiable))
    }

    @Test func minimizedImageHasItsSizeAndItsData() {
        let small = ImageSample.minimized([0, 8, 119, 89 << 1])
        #expect(inspect(small) == .init(.avif, 120, 90, .whole))
        #expect(
            inspect(ImageSample.minimized([0, 8, 119, 89 << 1], version: "heic")).mediaType == .heic
        )
        let largest = ImageSample.minimized([0, 8, 0xFF, 0xFF, 0xFF, 0xFE])
        #expect(inspect(largest) == .init(.avif, 32_768, 32_768, .whole))
        for length in 24..<small.count {
            let completeness = inspect(small.prefix(length)).completeness
            #expect(completeness == (length < 30 ? .empty : .cut), "\(length)")
        }
    }

    @Test func minimizedImageWithoutASizeIsEmpty() {
        let ftyp = box("ftyp", text("mif3"), text("avif"))
        #expect(inspect(ftyp + box("mini", zeros(5))) == .init(.avif, nil, nil, .empty))
        let unknownVersion = box("mini", [0x40, 8, 119, 89 << 1], zeros(20))
        #expect(inspect(ftyp + unknownVersion) == .init(.avif, nil, nil, .empty))
    }

    @Test func openEndedMinimizedImageIsUnverifiable() {
        let ftyp = box("ftyp", text("mif3"), text("avif"))
        let bytes = join(ftyp, big32(0), text("mini"), [0, 8, 119, 89 << 1], Bytes(1...20))
        #expect(inspect(bytes) == .init(.avif, 120, 90, .unverifiable))
    }

    @Test func heifWithoutAPrimaryItemIsEmpty() {
        let ftyp = box("ftyp", text("heic"), zeros(4), text("mif1"))
        let data = box("mdat", text("<html>"))
        let meta = fullBox("meta", fullBox("hdlr", zeros(21)))
        #expect(inspect(join(ftyp, meta, data)) == .init(.heic, nil, nil, .empty))
        #expect(inspect(join(ftyp, box("moov", zeros(9)), data)).completeness == .whole)
    }

    /// The data can be in `mdat` or in `idat`.
    @Test(arguments: [0, 1])
    func heifWithoutAnyDataIsEmpty(_ count: Int) {
        let ftyp = box("ftyp", text("avif"), zeros(4))
        let item = fullBox("pitm", big16(1))
        let (bare, full) = (fullBox("meta", item), fullBox("meta", item, box("idat", zeros(count))))
        let completeness: ImageReport.Completeness = count == 0 ? .empty : .whole
        #expect(inspect(join(ftyp, bare, box("mdat", zeros(count)))).completeness == completeness)
        #expect(inspect(join(ftyp, full)).completeness == completeness)
        #expect(inspect(join(ftyp, bare, box("mdat"), box("mdat", [7]))).completeness == .whole)
    }

    /// The bytes look like a box with a length of 64 bits that is shorter than its own header.
    @Test(arguments: [ImageSample.avif, .jxlContainer])
    func boxWithAnImpossibleLongLengthIsTrailing(_ sample: ImageSample) {
        let junk = big32(1) + text("abcd") + zeros(8)
        for feeding in Feeding.all {
            let report = inspect(sample.bytes + junk, feeding)
            #expect(report.completeness == .whole)
            #expect(report.hasTrailingBytes)
        }
        #expect(inspect(sample.bytes.dropLast(28) + junk).completeness != .whole)
    }

    @Test func readsOpenEndedMeta() {
        let ftyp = box("ftyp", text("heic"), zeros(4), text("mif1"))
        let size = fullBox("ispe", big32(640), big32(480))
        let items = join(fullBox("pitm", big16(1)), box("iprp", box("ipco", size)))
        let meta = join(big32(0), text("meta"), zeros(4), items)
        let bytes = join(ftyp, box("mdat", zeros(9)), meta)
        #expect(inspect(bytes) == .init(.heic, 640, 480, .unverifiable))
        #expect(inspect(join(ftyp, meta)).completeness == .empty)
    }

    @Test func childMustNotExceedItsBox() {
        let ftyp = box("ftyp", text("avif"), zeros(4))
        let meta = fullBox("meta", big32(900) + text("hdlr") + zeros(20))
        let report = inspect(ftyp + meta + box("mdat", zeros(2_000)))
        #expect(report == .init(.avif, nil, nil, .empty))
    }

    @Test(.timeLimit(.minutes(5)))
    func emptyExtentsTakeNoTime() {
        let item = join(zeros(4), big16(0xFFFF))
        let items = Bytes(repeatElement(item, count: 8_000).joined())
        let locations = fullBox("iloc", [0, 0], big16(8_000), items)
        let meta = fullBox("meta", fullBox("pitm", big16(1)), locations)
        let ftyp = box("ftyp", text("avif"), zeros(4))
        #expect(inspect(join(ftyp, meta, box("mdat", [7]))) == .init(.avif, nil, nil, .whole))
    }

    @Test func jxlContainerNeedsItsLastPart() {
        let cut = ImageSample.jxlContainer.bytes.dropLast(14)
        #expect(inspect(cut) == .init(.jxl, 750, 500, .cut))
    }

    @Test func jxlContainerCanHaveOneCodestream() {
        let whole = ImageSample.jxlHead + box("jxlc", ImageSample.jxlCodestream)
        #expect(inspect(whole) == .init(.jxl, 750, 500, .whole))
        let open = ImageSample.jxlHead + big32(0) + text("jxlc") + ImageSample.jxlCodestream
        #expect(inspect(open) == .init(.jxl, 750, 500, .unverifiable))
    }

    @Test func jxlFirstPartCanEndInsideTheSizeHeader() {
        let head = Bytes(ImageSample.jxlCodestream.prefix(5))
        let last = box("jxlp", [0x80, 0, 0, 1])
        let whole = ImageSample.jxlHead + box("jxlp", zeros(4), head) + last
        #expect(inspect(whole) == .init(.jxl, 750, 500, .whole))
        for length in 0..<5 {
            let parts = join(
                box("jxlp", zeros(4), Bytes(head.prefix(length))),
                box("jxlp", [0x80, 0, 0, 1], Bytes(head.dropFirst(length))))
            #expect(inspect(ImageSample.jxlHead + parts) == .init(.jxl, 750, 500, .whole))
        }
        let short = ImageSample.jxlHead + box("jxlp", zeros(4), Bytes(head.dropLast())) + last
        #expect(inspect(short) == .init(.jxl, nil, nil, .empty))
    }

    @Test(arguments: [[], [0x80], text("<html>"), [0x0A, 0xFF, 0x41, 0, 0]])
    func jxlWithoutASizeIsEmpty(_ content: Bytes) {
        #expect(inspect([0xFF, 0x0A] + content.prefix(1)) == .init(.jxl, nil, nil, .empty))
        for codestream in [box("jxlc", content), box("jxlp", [0x80, 0, 0, 0], content)] {
            let bytes = ImageSample.jxlHead + codestream
            #expect(inspect(bytes) == .init(.jxl, nil, nil, .empty))
        }
    }

    /// The header: small, 5 bits of height, 3 bits of ratio 1.
    @Test func jxlIsUnverifiableOnceItsSizeIsRead() {
        let bytes = Bytes([0xFF, 0x0A]) + little16(1 | 2 << 1 | 1 << 6)
        #expect(inspect(bytes) == .init(.jxl, 24, 24, .unverifiable))
        #expect(inspect(bytes.dropLast()) == .init(.jxl, nil, nil, .empty))
    }

    @Test func jxlSmallSizesAreMultiplesOfEight() {
        // The header: small, 5 bits of height, 3 bits of ratio 0, 5 bits of width.
        let bytes = [0xFF, 0x0A] + little64(1 | 2 << 1 | 0 << 6 | 4 << 9) + zeros(4)
        #expect(inspect(bytes) == .init(.jxl, 40, 24, .unverifiable))
    }
}
