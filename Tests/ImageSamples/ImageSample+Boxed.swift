internal import ImageFormats

extension ImageSample {
    package static let avif = ImageSample("avif", .avif, 640, 480, heif(["mif1", "avif"]))
    package static let heic = ImageSample("heic", .heic, 640, 480, heif(["heic", "mif1"]))

    /// A file in one box, with sides of 15 bits.
    package static let avifMinimized = ImageSample(
        "avif mini", .avif, 5_000, 130,
        minimized([0, 8], big16(0x8000 | 4_999), big16(129 << 1)))

    /// A file whose image starts with `head`.
    package static func minimized(_ head: Bytes..., version: String = "avif") -> Bytes {
        join(
            box("ftyp", text("mif3"), text(version)),
            box("mini", Bytes(head.joined()), Bytes(1...20)))
    }

    /// A file whose primary item, the second, is smaller than the first.
    package static func heif(_ brands: [String]) -> Bytes {
        let ftyp = box("ftyp", text(brands[0]), zeros(4), text(brands.joined()))
        let data = box("mdat", Bytes(1...20))
        let start = ftyp.count + meta(dataAt: 0).count + 8
        return join(ftyp, meta(dataAt: start), data)
    }

    private static func meta(dataAt start: Int) -> Bytes {
        fullBox(
            "meta", fullBox("hdlr", zeros(4), text("pict"), zeros(13)),
            fullBox("pitm", big16(2)),
            fullBox(
                "iloc", [0x44, 0], big16(2), item(1, at: start, length: 8),
                item(2, at: start + 8, length: 12)),
            box("iprp", properties, associations))
    }

    private static func item(_ id: Int, at offset: Int, length: Int) -> Bytes {
        join(big16(id), big16(0), big16(1), big32(offset), big32(length))
    }

    private static let properties = box(
        "ipco", fullBox("ispe", big32(6_400), big32(4_800)), box("pixi", zeros(4)),
        fullBox("ispe", big32(640), big32(480)))

    private static let associations = fullBox(
        "ipma", big32(2), big16(1), [1, 1], big16(2), [2, 2, 0x83])

    /// 500 lines of 13 bits, width by ratio 3:2.
    package static let jxlCodestream = join(
        [0xFF, 0x0A], little64(499 << 3 | 1 << 1 | 4 << 16), [0])

    package static let jxl = ImageSample(
        "jxl", .jxl, 750, 500, verdict: .unverifiable, jxlCodestream, [1, 2, 3])

    package static let jxlHead = join(
        [0, 0, 0, 12], text("JXL "), [0x0D, 0x0A, 0x87, 0x0A],
        box("ftyp", text("jxl "), zeros(4), text("jxl ")))

    package static let jxlContainer = ImageSample(
        "jxl container", .jxl, 750, 500,
        jxlHead, box("Exif", zeros(4)), box("jxlp", big32(0), jxlCodestream, [1]),
        box("jxlp", [0x80, 0, 0, 1], [2, 3]))

    package static let boxed = [avif, avifMinimized, heic, jxl, jxlContainer]
}
