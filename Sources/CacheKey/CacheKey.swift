/// The name of a cached image: the UUIDv5 of its URL in the URL namespace (RFC 9562 §5.5).
///
///     let key = CacheKey(try CacheURL("https://example.com/a.png"))
///     print(key)  // c01a4429-4703-5b6a-8726-7982c1849d2a
///
/// Any program can compute the same name, in Python for example with
/// `uuid.uuid5(uuid.NAMESPACE_URL, url)`.
public struct CacheKey: Hashable, Sendable, Comparable {
    /// Bytes 0 to 7 of the UUID, most significant first.
    public let high: UInt64
    /// Bytes 8 to 15 of the UUID, most significant first.
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// The key of a URL.
    public init(_ url: CacheURL) {
        var string = url.string
        self = string.withUTF8 { Self(urlBytes: UnsafeRawBufferPointer($0)) }
    }

    public static func < (left: CacheKey, right: CacheKey) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// A key is already a SHA-1 digest, so that 64 of its bits are a good hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(low)
    }
}

extension CacheKey: LosslessStringConvertible {
    /// The length of a name in bytes.
    public static let nameLength = 36

    /// Parses a file name. The result is `nil` unless the name is a UUIDv5 in lower case.
    public init?(_ description: String) {
        var copy = description
        guard let key = copy.withUTF8({ Self(name: UnsafeRawBufferPointer($0)) }) else {
            return nil
        }
        self = key
    }

    /// Parses the bytes of a file name; see ``init(_:)``.
    public init?(name bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.nameLength else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (index, byte) in bytes.enumerated() {
            if Self.isHyphenPosition(index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Self.hexDigit(byte) else { return nil }
            if digits < 16 {
                words.0 = words.0 << 4 | digit
            } else {
                words.1 = words.1 << 4 | digit
            }
            digits += 1
        }
        guard words.0 >> 12 & 0xF == 5, words.1 >> 62 == 0b10 else { return nil }
        self.init(high: words.0, low: words.1)
    }

    /// The file name: 36 characters in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: Self.nameLength) { buffer in
            write(to: UnsafeMutableRawBufferPointer(buffer))
            return Self.nameLength
        }
    }

    /// Writes the 36 bytes of the name into `buffer`.
    ///
    /// - Precondition: `buffer` has at least ``nameLength`` bytes.
    @inlinable
    public func write(to buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count >= Self.nameLength)
        let (first, second) = (Self.digits(high >> 32), Self.digits(high))
        let (third, fourth) = (Self.digits(low >> 32), Self.digits(low))
        buffer.storeBytes(of: first, as: UInt64.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: second), toByteOffset: 9, as: UInt32.self)
        buffer.storeBytes(of: UInt32(second >> 32), toByteOffset: 14, as: UInt32.self)
        buffer.storeBytes(of: UInt32(truncatingIfNeeded: third), toByteOffset: 19, as: UInt32.self)
        buffer.storeBytes(of: UInt32(third >> 32), toByteOffset: 24, as: UInt32.self)
        buffer.storeBytes(of: fourth, toByteOffset: 28, as: UInt64.self)
        buffer[8] = UInt8(ascii: "-")
        buffer[13] = UInt8(ascii: "-")
        buffer[18] = UInt8(ascii: "-")
        buffer[23] = UInt8(ascii: "-")
    }

    /// The lower 32 bits as eight hexadecimal digits, the first one in the lowest byte. All digits are computed at once:
    /// one bit in each byte says whether it is a letter.
    @inlinable
    static func digits(_ number: UInt64) -> UInt64 {
        var bytes = number & 0xFFFF_FFFF
        bytes = (bytes | bytes << 16) & 0x0000_FFFF_0000_FFFF
        bytes = (bytes | bytes << 8) & 0x00FF_00FF_00FF_00FF
        bytes = (bytes | bytes << 4) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (bytes + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (bytes + 0x3030_3030_3030_3030 + letters * 0x27).byteSwapped.littleEndian
    }

    private static func isHyphenPosition(_ index: Int) -> Bool {
        index == 8 || index == 13 || index == 18 || index == 23
    }

    private static func hexDigit(_ byte: UInt8) -> UInt64? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a")) + 10
        default: nil
        }
    }
}
