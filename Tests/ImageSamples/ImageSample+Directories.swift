internal import ImageFormats

extension ImageSample {
    package static let ico = ImageSample(
        "ico", .ico, 16, 256,
        [0, 0, 1, 0], little16(2), [16, 0, 0, 0], zeros(4), little32(5), little32(41),
        [32, 32, 0, 0], zeros(4), little32(3), little32(38), zeros(8))

    package static let cur = ImageSample(
        "cur", .ico, 32, 32,
        [0, 0, 2, 0], little16(1), [32, 32, 0, 0], little16(9), little16(7), little32(5),
        little32(22), Bytes(1...5))

    package static let tiff = ImageSample(
        "tiff", .tiff, 300, 70_000, verdict: .unverifiable,
        text("II"), little16(42), little32(10), [9, 9], little16(2), little16(256),
        little16(3), little32(1), little16(300), zeros(2), little16(257), little16(4),
        little32(1), little32(70_000), little32(0))

    package static let tiffBigEndian = ImageSample(
        "tiff big-endian", .tiff, 300, 7, verdict: .unverifiable,
        text("MM"), big16(42), big32(8), big16(2), big16(256), big16(3), big32(1),
        big16(300), zeros(2), big16(257), big16(4), big32(1), big32(7), big32(0))

    package static let bigTIFF = ImageSample(
        "BigTIFF", .tiff, 300, 7, verdict: .unverifiable,
        text("II"), little16(43), little16(8), little16(0), little64(16), little64(2),
        little16(256), little16(3), little64(1), little64(300),
        little16(257), little16(4), little64(1), little64(7), little64(0))

    /// An entry of a directory with one `LONG`, or with the offset of several.
    package static func tiffEntry(_ tag: Int, _ value: Int, count: Int = 1) -> Bytes {
        join(little16(tag), little16(4), little32(count), little32(value))
    }

    /// A file with a directory at offset 8 for 16 by 4 pixels of 8 bits, and with `rest` behind it.
    package static func tiffFile(_ entries: [Bytes], _ rest: Bytes = []) -> Bytes {
        let all = [tiffEntry(256, 16), tiffEntry(257, 4)] + entries
        return join(
            text("II"), little16(42), little32(8), little16(all.count), Bytes(all.joined()),
            little32(0), rest)
    }

    /// Three strips, the second of which is the last in the file. The lists are behind the directory, and the
    /// description is behind all strips.
    package static let tiffStrips = ImageSample(
        "tiff with strips", .tiff, 16, 4,
        tiffFile(
            [
                tiffEntry(273, 74, count: 3), tiffEntry(279, 86, count: 3),
                join(little16(270), little16(2), little32(6), little32(115)),
            ],
            join(
                little32(98), little32(109), little32(103), little32(5), little32(6), little32(6),
                Bytes(1...17), text("words\0"))))

    package static let tiffTurned = ImageSample(
        "tiff with an orientation", .tiff, 4, 16, verdict: .unverifiable, orientation: 5,
        tiffFile([orientationEntry(5)]))

    package static let directories = [
        ico, cur, tiff, tiffBigEndian, bigTIFF, tiffStrips, tiffTurned,
    ]
}
