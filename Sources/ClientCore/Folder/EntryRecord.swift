/// The record in the attribute of a file; `docs/disk-format.md` has the two versions.
struct EntryRecord {
    /// The number of the media type; 0 if the record does not say.
    private(set) var type: UInt16 = 0
    private(set) var width: Int32 = 0
    private(set) var height: Int32 = 0
    /// The Unix second until which the image may be used without asking its origin; 0 if the record does not say.
    private(set) var freshUntil: UInt32 = 0

    /// Bytes of the longest record.
    static let room = 1024

    /// `nil` if the record is damaged, or if the file has another size than it says.
    init?(_ bytes: UnsafeRawBufferPointer, fileSize: Int64) {
        guard bytes.count >= 2, bytes[0] == UInt8(ascii: "v") else { return nil }
        switch bytes[1] {
        case UInt8(ascii: "2"): self.init(layout: bytes, fileSize)
        case UInt8(ascii: "1"): self.init(text: bytes, fileSize)
        default: return nil
        }
    }

    private init?(layout bytes: UnsafeRawBufferPointer, _ fileSize: Int64) {
        guard bytes.count >= 52 else { return nil }
        let end = bytes.count - 4
        guard bytes.number(at: end, 4) == UInt64(CRC32.of(bytes, upTo: end)),
            bytes.number(at: 8, 8) == UInt64(bitPattern: fileSize)
        else { return nil }
        type = UInt16(bytes.number(at: 2, 2))
        width = Int32(truncatingIfNeeded: bytes.number(at: 16, 4))
        height = Int32(truncatingIfNeeded: bytes.number(at: 20, 4))
        let hasFreshness = bytes.number(at: 4, 4) & 8 != 0
        if hasFreshness { freshUntil = UInt32(bytes.number(at: 28, 4)) }
    }

    /// A line of ASCII: `v1 size=BYTES … sum=CRC`.
    private init?(text bytes: UnsafeRawBufferPointer, _ fileSize: Int64) {
        let (prefix, sum): (StaticString, StaticString) = ("v1 size=", "sum=")
        guard bytes.count > 20, bytes.matches(prefix, at: 0) else { return nil }
        let end = bytes.count - 12
        guard bytes.matches(sum, at: end),
            bytes.hexadecimal(at: end + 4) == CRC32.of(bytes, upTo: end),
            bytes.decimal(at: prefix.utf8CodeUnitCount) == fileSize
        else { return nil }
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

    fileprivate func matches(_ text: StaticString, at start: Int) -> Bool {
        guard start >= 0, count - start >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount where self[start + index] != text.utf8Start[index] {
            return false
        }
        return true
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

    /// Eight hexadecimal digits in lower case.
    fileprivate func hexadecimal(at start: Int) -> UInt32? {
        var number: UInt32 = 0
        for index in start..<(start + 8) {
            switch self[index] {
            case 0x30...0x39: number = number << 4 | UInt32(self[index] - 0x30)
            case 0x61...0x66: number = number << 4 | UInt32(self[index] - 0x57)
            default: return nil
            }
        }
        return number
    }
}
