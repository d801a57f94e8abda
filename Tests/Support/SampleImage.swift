/// Small valid images generated on the spot, for tests that need no real ones.
public enum SampleImage {
    /// A complete PNG in a single shade of grey, of exactly `byteCount` bytes if given. Padding goes into
    /// a private ancillary chunk before the image data (PNG specification, §5).
    ///
    /// - Parameter seed: makes images of the same size differ.
    public static func png(
        width: Int = 8, height: Int = 8, byteCount: Int? = nil, seed: Int = 0
    ) -> [UInt8] {
        let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
        // Eight bits per pixel, greyscale, no interlacing.
        let header = chunk("IHDR", bigEndian(width) + bigEndian(height) + [8, 0, 0, 0, 0])
        let row: [UInt8] = [0] + Array(repeating: UInt8(truncatingIfNeeded: seed), count: width)
        let pixels = chunk("IDAT", zlib(Array(repeating: row, count: height).flatMap(\.self)))
        let end = chunk("IEND", [])
        let core = signature + header
        let rest = pixels + end
        guard let byteCount else { return core + rest }
        let padding = byteCount - core.count - rest.count - 12
        precondition(padding >= 0, "\(byteCount) bytes are too few for \(width) × \(height)")
        let filler = (0..<padding).map {
            UInt8(truncatingIfNeeded: $0 &* 31 &+ seed >> (0..<8 ~= $0 ? 8 * $0 : 0))
        }
        return core + chunk("teSt", filler) + rest
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return bigEndian(data.count) + body + bigEndian(Int(crc32(body)))
    }

    /// Stored blocks only (RFC 1950, RFC 1951 §3.2.4).
    private static func zlib(_ data: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: data.count, by: 65535) {
            let end = min(start + 65535, data.count)
            let count = UInt16(end - start)
            stream.append(end == data.count ? 1 : 0)
            for word in [count, ~count] { stream += [UInt8(word & 0xFF), UInt8(word >> 8)] }
            stream += data[start..<end]
        }
        var low: UInt32 = 1
        var high: UInt32 = 0
        for byte in data {
            low = (low + UInt32(byte)) % 65521
            high = (high + low) % 65521
        }
        return stream + bigEndian(Int(high << 16 | low))
    }

    private static let crcTable: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { crc, _ in crc & 1 == 1 ? 0xEDB8_8320 ^ crc >> 1 : crc >> 1 }
    }

    package static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { crc, byte in
            crcTable[Int((crc ^ UInt32(byte)) & 0xFF)] ^ crc >> 8
        }
    }

    private static func bigEndian(_ number: Int) -> [UInt8] {
        withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) }
    }
}
