#if canImport(MediaTypes)
    import MediaTypes
#endif

/// The record in the attribute of a file: `docs/lookup/disk-format.md`.
struct FileRecord {
    /// `other` if the record does not say.
    private(set) var type = MediaType.other
    private(set) var width: Int32 = 0
    private(set) var height: Int32 = 0
    /// The Unix second until which the image may be used without asking its origin; 0 if the record does not say.
    private(set) var freshUntil: UInt32 = 0
    /// Whether the image is never evicted.
    private(set) var isPinned = false

    /// Bytes of the longest record.
    static let room = 1024

    /// `nil` if the record is damaged, or if the file has another size than the record says.
    init?(_ bytes: UnsafeRawBufferPointer, fileSize: Int64) {
        guard bytes.count >= 56, bytes[0] == UInt8(ascii: "v"), bytes[1] == UInt8(ascii: "3") else {
            return nil
        }
        let end = bytes.count - 4
        guard bytes.number(at: end, 4) == UInt64(CRC32.of(bytes, upTo: end)),
            bytes.number(at: 8, 8) == UInt64(bitPattern: fileSize)
        else { return nil }
        let number = UInt8(exactly: bytes.number(at: 2, 2))
        type = number.flatMap { MediaType(rawValue: $0) } ?? .other
        width = Int32(truncatingIfNeeded: bytes.number(at: 16, 4))
        height = Int32(truncatingIfNeeded: bytes.number(at: 20, 4))
        let flags = bytes.number(at: 4, 4)
        isPinned = flags & 1 != 0
        if flags & 8 != 0 { freshUntil = UInt32(bytes.number(at: 28, 4)) }
    }
}

/// CRC-32 (RFC 1952 §8).
enum CRC32 {
    static func of(_ bytes: UnsafeRawBufferPointer, upTo end: Int) -> UInt32 {
        var sum = ~UInt32(0)
        for index in 0..<end {
            sum ^= UInt32(bytes[index])
            for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0) }
        }
        return ~sum
    }
}

extension UnsafeRawBufferPointer {
    /// A number of `count` bytes, little endian.
    fileprivate func number(at start: Int, _ count: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in (start..<(start + count)).reversed() {
            number = number << 8 | UInt64(self[index])
        }
        return number
    }

    /// Decimal digits up to another character; `nil` if there are none or too many.
    func decimal(at start: Int) -> Int64? {
        var (number, index): (Int64, Int) = (0, start)
        while index < count, index < start + 18, 0x30...0x39 ~= self[index] {
            number = number * 10 + Int64(self[index] - 0x30)
            index += 1
        }
        return index > start ? number : nil
    }
}
