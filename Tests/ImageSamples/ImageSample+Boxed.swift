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
    ///
    /// - Parameter changes: properties that follow the sizes. They are those of the second item.
    package static func heif(_ brands: [String], _ changes: [Bytes] = []) -> Bytes {
        let ftyp = box("ftyp", text(brands[0]), zeros(4), text(brands.joined()))
        let data = box("mdat", Bytes(1...20))
        let start = ftyp.count + meta(changes, dataAt: 0).count + 8
        return join(ftyp, meta(changes, dataAt: start), data)
    }

    private static func meta(_ changes: [Bytes], dataAt start: Int) -> Bytes {
        fullBox(
            "meta", fullBox("hdlr", zeros(4), text("pict"), zeros(13)),
            fullBox("pitm", big16(2)),
            fullBox(
                "iloc", [0x44, 0], big16(2), item(1, at: start, length: 8),
                item(2, at: start + 8, length: 12)),
            box("iprp", properties(changes), associations(changes.count)))
    }

    private static func item(_ id: Int, at offset: Int, length: Int) -> Bytes {
        join(big16(id), big16(0), big16(1), big32(offset), big32(length))
    }

    private static func properties(_ changes: [Bytes]) -> Bytes {
        box(
            "ipco", fullBox("ispe", big32(6_400), big32(4_800)), box("pixi", zeros(4)),
            fullBox("ispe", big32(640), big32(480)), Bytes(changes.joined()))
    }

    private static func associations(_ changes: Int) -> Bytes {
        let own = [2, 0x83] + (0..<changes).map { UInt8(0x84 + $0) }
        return fullBox(
            "ipma", big32(2), big16(1), [1, 1], big16(2), [UInt8(own.count)], own)
    }

    /// A crop: its width and height, and the distance of its centre from that of the image, as fractions.
    package static func clap(_ numbers: Int...) -> Bytes {
        box("clap", Bytes(numbers.map { big32($0) }.joined()))
    }

    /// A rotation to the left.
    package static func irot(_ quarters: UInt8) -> Bytes { box("irot", [quarters]) }
    /// A mirror image: 0 exchanges top and bottom, 1 left and right.
    package static func imir(_ axis: UInt8) -> Bytes { box("imir", [axis]) }

    package static let heicTurned = ImageSample(
        "heic with changes", .heic, 100, 200, orientation: 5,
        heif(["heic", "mif1"], [clap(200, 1, 100, 1, 7, 2, 0, 1), irot(1), imir(0)]))

    /// ``jxlCodestream`` with an orientation.
    package static func jxlCodestream(_ orientation: Int) -> Bytes {
        join(
            [0xFF, 0x0A],
            little64(499 << 3 | 1 << 1 | 4 << 16 | 1 << 20 | (orientation - 1) << 21), [0])
    }

    package static let jxlTurned = ImageSample(
        "jxl with an orientation", .jxl, 500, 750, orientation: 7,
        jxlHead, box("jxlc", jxlCodestream(7), [1, 2]))

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

    package static let boxed = [
        avif, avifMinimized, heic, jxl, jxlContainer, heicTurned, jxlTurned,
    ]
}
