import ImageFormats
import ImageSamples
import Testing

@Suite("ICO and TIFF")
struct DirectoryWalkerTests {
    @Test func icoEntryMustNotPointIntoTheDirectory() {
        var bytes = ImageSample.ico.bytes
        bytes[18] = 37
        #expect(inspect(bytes) == .notAnImage)
    }

    @Test func icoLackingItsFurthestImageIsTruncated() {
        let bytes = Bytes(ImageSample.ico.bytes.dropLast())
        #expect(inspect(bytes) == .init(.ico, 16, 256, .truncated))
    }

    @Test func icoHasTheSizeOfItsLargestImage() {
        var bytes = ImageSample.ico.bytes
        bytes[7] = 9
        #expect(inspect(bytes) == .init(.ico, 32, 32, .whole))
        bytes[22] = 0
        #expect(inspect(bytes) == .init(.ico, 256, 32, .whole))
    }

    @Test func icoEntryCanHaveNoLength() {
        var bytes = ImageSample.ico.bytes
        bytes.replaceSubrange(14..<18, with: little32(0))
        #expect(inspect(bytes) == .init(.ico, 16, 256, .unverifiable))
        #expect(inspect(bytes.prefix(40)) == .init(.ico, 16, 256, .truncated))
    }

    @Test(arguments: [16, 15])
    func cursorIsAnIconWithAHotSpot(_ side: UInt8) {
        var bytes = ImageSample.cur.bytes
        (bytes[6], bytes[10], bytes[12]) = (side, side + 90, side - 9)
        #expect(inspect(bytes) == .init(.ico, Int(side), 32, .whole))
    }

    @Test func icoHasTheSizeOfThePNGInside() {
        let png = Bytes(ImageSample.png.bytes)
        let entry = join(zeros(8), little32(png.count), little32(40))
        let bytes = join([0, 0, 1, 0], little16(1), entry, zeros(18), png)
        for feeding in Feeding.all {
            #expect(inspect(bytes, feeding) == .init(.ico, 300, 2, .whole))
        }
        #expect(inspect(bytes.dropLast()) == .init(.ico, 300, 2, .truncated))
        #expect(inspect(bytes.prefix(41)) == .init(.ico, 256, 256, .truncated))
        #expect(inspect(bytes.prefix(40)) == .init(.ico, 256, 256, .empty))
    }

    /// The file ends with its directory. The length of its image does not matter.
    @Test func icoWithoutAnyOfItsImagesIsEmpty() {
        let head = join([0, 0, 1, 0], little16(1), zeros(8))
        let cut = join(head, little32(1000), little32(22))
        #expect(inspect(cut).completeness == .empty)
        #expect(inspect(cut + [7]).completeness == .truncated)
        #expect(inspect(join(head, little32(0), little32(22))).completeness == .empty)
    }

    @Test func tiffLackingItsDirectoryIsEmpty() {
        let bytes = Bytes(ImageSample.tiff.bytes.prefix(30))
        #expect(inspect(bytes) == .init(.tiff, nil, nil, .empty))
    }

    @Test(arguments: [0, 1, 600, 60_000])
    func tiffWithoutAnyImageIsEmpty(_ count: Int) {
        let head = text("II") + little16(42) + little32(8) + little16(count)
        #expect(inspect(head + zeros(50)) == .init(.tiff, nil, nil, .empty))
        #expect(inspect(head + zeros(12 * count)) == .init(.tiff, nil, nil, .empty))
    }

    @Test func bigTIFFCanHaveDimensionsOfEightBytes() {
        let bytes = join(
            text("MM"), big16(43), big16(8), big16(0), big64(16), big64(2), big16(256), big16(16),
            big64(1), big64(300), big16(257), big16(16), big64(1), big64(7), big64(0))
        #expect(inspect(bytes) == .init(.tiff, 300, 7, .unverifiable))
    }

    @Test func tiffCanPointAtItsImage() {
        for tag in [273, 324, 330, 513] {
            let entry = ImageSample.tiffEntry(tag, 8)
            let bytes = join(text("II"), little16(42), little32(8), little16(1), entry)
            #expect(inspect(bytes) == .init(.tiff, nil, nil, .truncated), "\(tag)")
            #expect(inspect(bytes + zeros(4)) == .init(.tiff, nil, nil, .unverifiable), "\(tag)")
        }
    }

    @Test func tiffDirectoryCanHaveAnyLength() {
        let many = (0..<2_000).map { ImageSample.tiffEntry(40_000 + $0, 0) }
        let bytes = ImageSample.tiffFile(many)
        #expect(inspect(bytes) == .init(.tiff, 16, 4, .unverifiable))
        #expect(inspect(bytes.dropLast(5)).completeness == .empty)
    }

    @Test(arguments: [(273, 279, 5), (324, 325, 1)])
    func tiffHasToContainItsOnlyStrip(_ offset: Int, _ length: Int, _ compression: Int) {
        let entries = [
            ImageSample.tiffEntry(258, 8), ImageSample.tiffEntry(259, compression),
            ImageSample.tiffEntry(offset, 90), ImageSample.tiffEntry(length, 20),
        ]
        let bytes = ImageSample.tiffFile(entries)
        let whole = bytes + zeros(110 - bytes.count)
        #expect(inspect(whole) == .init(.tiff, 16, 4, .whole))
        #expect(inspect(whole + [7]) == .init(.tiff, 16, 4, .whole, trailing: true))
        #expect(inspect(whole.dropLast()) == .init(.tiff, 16, 4, .cut))
        #expect(inspect(bytes) == .init(.tiff, 16, 4, .cut))
    }

    /// Decoders read 64 pixels of 8 bits, regardless of the claimed length.
    @Test func tiffCanClaimTooManyUncompressedBytes() {
        let entries = [
            ImageSample.tiffEntry(258, 8), ImageSample.tiffEntry(273, 90),
            ImageSample.tiffEntry(279, 1 << 31),
        ]
        let bytes = ImageSample.tiffFile(entries)
        let whole = bytes + zeros(154 - bytes.count)
        #expect(inspect(whole).completeness == .whole)
        #expect(inspect(whole.dropLast()).completeness == .cut)
    }

    /// A sparse file, and a file with the first kind of JPEG in TIFF.
    @Test(arguments: [[], [ImageSample.tiffEntry(259, 6)]])
    func tiffCanLackItsStrip(_ compression: [Bytes]) {
        let offset = compression.isEmpty ? 0 : 9_000
        let strip = [ImageSample.tiffEntry(273, offset), ImageSample.tiffEntry(279, 400)]
        let report = inspect(ImageSample.tiffFile(compression + strip))
        #expect(report.completeness == .unverifiable)
    }

    /// The last strip starts at offset 109, and the file ends with a description at offset 115.
    @Test func tiffHasToReachTheLastOfSeveralStrips() {
        let whole = ImageSample.tiffStrips.bytes
        #expect(whole.count == 121)
        for length in 74..<121 {
            let expected: ImageReport.Completeness = length < 110 ? .cut : .truncated
            #expect(inspect(whole.prefix(length)).completeness == expected, "\(length)")
        }
        #expect(inspect(whole + [7]) == .init(.tiff, 16, 4, .whole, trailing: true))
    }

    @Test func tiffWithManyStripsEndsWithTheLast() {
        let count = 3_000
        let lists = 8 + 2 + 4 * 12 + 4
        let pixels = lists + 8 * count
        let entries = [
            ImageSample.tiffEntry(273, lists, count: count),
            ImageSample.tiffEntry(279, lists + 4 * count, count: count),
        ]
        let offsets = (0..<count).flatMap { little32(pixels + $0) }
        let lengths = (0..<count).flatMap { little32($0 == count - 1 ? 30 : 1) }
        let bytes = ImageSample.tiffFile(entries, offsets + lengths) + zeros(count + 29)
        for feeding in [Feeding.whole, .random(seed: 1)] {
            #expect(inspect(bytes, feeding) == .init(.tiff, 16, 4, .whole))
        }
        #expect(inspect(bytes.dropLast()).completeness == .truncated)
        #expect(inspect(bytes.dropLast(30)).completeness == .cut)
    }

    /// Each page has a strip behind its directory. Only the first page decides whether anything is shown.
    @Test func tiffEndsWithItsLastPage() {
        let compression = ImageSample.tiffEntry(259, 5)
        let first = ImageSample.tiffFile(
            [ImageSample.tiffEntry(273, 74), ImageSample.tiffEntry(279, 4), compression])
        let page = 78
        let bytes = join(
            Bytes(first.dropLast(4)), little32(page), Bytes(1...4), little16(3),
            ImageSample.tiffEntry(273, page + 42), ImageSample.tiffEntry(279, 5), compression,
            little32(0), Bytes(1...5))
        #expect(inspect(bytes) == .init(.tiff, 16, 4, .whole))
        for length in page..<bytes.count {
            #expect(inspect(bytes.prefix(length)) == .init(.tiff, 16, 4, .truncated), "\(length)")
        }
        #expect(inspect(bytes.prefix(page - 1)).completeness == .cut)
    }

    /// An earlier page, the list of offsets before the directory, and the directory of Exif.
    @Test func tiffWhoseEndCannotBeFollowedIsUnverifiable() {
        let strip = [ImageSample.tiffEntry(273, 90), ImageSample.tiffEntry(279, 9)]
        var earlier = ImageSample.tiffFile(strip) + zeros(60)
        earlier.replaceSubrange(58..<62, with: little32(8))
        let before = [
            ImageSample.tiffEntry(273, 8, count: 2), ImageSample.tiffEntry(279, 62, count: 2),
        ]
        let exif = ImageSample.tiffFile(strip + [ImageSample.tiffEntry(34_665, 80)]) + zeros(60)
        for bytes in [earlier, ImageSample.tiffFile(before) + zeros(60), exif] {
            #expect(inspect(bytes) == .init(.tiff, 16, 4, .unverifiable))
        }
    }

    @Test func tiffHasToContainTheListsOfStrips() {
        let entries = [
            ImageSample.tiffEntry(273, 8, count: 3), ImageSample.tiffEntry(279, 60, count: 10),
        ]
        let bytes = ImageSample.tiffFile(entries)
        #expect(inspect(bytes + zeros(100 - bytes.count)).completeness == .unverifiable)
        #expect(inspect(bytes + zeros(99 - bytes.count)).completeness == .cut)
        let endless = [ImageSample.tiffEntry(273, -1, count: -1)]
        #expect(inspect(ImageSample.tiffFile(endless)).completeness == .cut)
    }
}
