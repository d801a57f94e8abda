/// The functions below build files byte by byte.
package typealias Bytes = [UInt8]

package func big16(_ value: Int) -> Bytes { big(value, 2) }
package func big32(_ value: Int) -> Bytes { big(value, 4) }
package func big64(_ value: Int) -> Bytes { big(value, 8) }
package func little16(_ value: Int) -> Bytes { big(value, 2).reversed() }
package func little24(_ value: Int) -> Bytes { big(value, 3).reversed() }
package func little32(_ value: Int) -> Bytes { big(value, 4).reversed() }
package func little64(_ value: Int) -> Bytes { big(value, 8).reversed() }

/// The parts one after the other. The compiler takes too long for a chain of `+`.
package func join(_ parts: Bytes...) -> Bytes { Bytes(parts.joined()) }

package func text(_ value: String) -> Bytes { Bytes(value.utf8) }
package func zeros(_ count: Int) -> Bytes { Bytes(repeating: 0, count: count) }

private func big(_ value: Int, _ width: Int) -> Bytes {
    (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

/// A box of ISO-BMFF.
package func box(_ type: String, _ payload: Bytes...) -> Bytes {
    let payload = Bytes(payload.joined())
    return join(big32(payload.count + 8), text(type), payload)
}

/// A box with a version and flags.
package func fullBox(_ type: String, version: UInt8 = 0, _ payload: Bytes...) -> Bytes {
    box(type, [version, 0, 0, 0], Bytes(payload.joined()))
}

/// A chunk of PNG. Its checksum is zero.
package func pngChunk(_ type: String, _ parts: Bytes...) -> Bytes {
    let data = Bytes(parts.joined())
    return join(big32(data.count), text(type), data, zeros(4))
}

/// A segment of JPEG.
package func jpegSegment(_ marker: UInt8, _ parts: Bytes...) -> Bytes {
    let data = Bytes(parts.joined())
    return join([0xFF, marker], big16(data.count + 2), data)
}

/// A block of Exif: a TIFF with a directory at `position` that has these entries and claims `count` of them.
package func exif(
    _ entries: [Bytes], isBigEndian: Bool = false, at position: Int = 8, count: Int? = nil
) -> Bytes {
    let short = isBigEndian ? big16 : little16
    let long = isBigEndian ? big32 : little32
    let head = join(
        text(isBigEndian ? "MM" : "II"), short(42), long(position), zeros(max(position - 8, 0)))
    return join(head, short(count ?? entries.count), Bytes(entries.joined()), long(0))
}

/// The entry with an orientation: one `SHORT`, unless the type or the number of values is another.
package func orientationEntry(
    _ number: Int, isBigEndian: Bool = false, type: Int = 3, count: Int = 1
) -> Bytes {
    let short = isBigEndian ? big16 : little16
    let long = isBigEndian ? big32 : little32
    return join(short(274), short(type), long(count), short(number), zeros(2))
}

/// A block of Exif with nothing but an orientation.
package func exif(_ number: Int, isBigEndian: Bool = false) -> Bytes {
    exif([orientationEntry(number, isBigEndian: isBigEndian)], isBigEndian: isBigEndian)
}

/// A segment of JPEG with Exif.
package func exifSegment(_ block: Bytes) -> Bytes {
    jpegSegment(0xE1, text("Exif\0\0"), block)
}

/// A chunk of RIFF.
package func riffChunk(_ type: String, _ parts: Bytes...) -> Bytes {
    let payload = Bytes(parts.joined())
    return join(text(type), little32(payload.count), payload, zeros(payload.count % 2))
}

/// A WebP file of these chunks.
package func webp(_ chunks: Bytes...) -> Bytes {
    let chunks = Bytes(chunks.joined())
    return join(text("RIFF"), little32(chunks.count + 4), text("WEBP"), chunks)
}
