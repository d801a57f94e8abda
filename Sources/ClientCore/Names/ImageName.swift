/// The name of an image's file: the UUIDv5 of its URL in the URL namespace (RFC 9562 §5.5).
public struct ImageName: Hashable, Sendable {
    public let high: UInt64
    public let low: UInt64

    /// Bytes of a name as text.
    public static let length = 36

    /// 6ba7b811-9dad-11d1-80b4-00c04fd430c8 (RFC 9562 §6.6).
    private static let namespace: [UInt8] = [
        0x6B, 0xA7, 0xB8, 0x11, 0x9D, 0xAD, 0x11, 0xD1,
        0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
    ]

    /// The name of the image with this URL. The bytes are hashed unchanged.
    public init(url: UnsafeRawBufferPointer) {
        let digest = SHA1.digest(Self.namespace, url)
        high = digest.0 & ~0xF000 | 0x5000
        low = digest.1 & ~(0b11 << 62) | 0b10 << 62
    }

    /// Reads the 36 characters of a name, in the form of ``write(to:)``; `nil` for any other text.
    package init?(text: UnsafeRawBufferPointer) {
        guard text.count == Self.length else { return nil }
        var words: (UInt64, UInt64) = (0, 0)
        for (position, byte) in text.enumerated() {
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if position < 18 {
                words.0 = words.0 << 4 | UInt64(digit)
            } else {
                words.1 = words.1 << 4 | UInt64(digit)
            }
        }
        (high, low) = words
    }

    /// Writes the 36 characters of the name, in lower case.
    public func write(to text: UnsafeMutablePointer<UInt8>) {
        var position = 0
        for digit in 0..<32 {
            if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                text[position] = UInt8(ascii: "-")
                position += 1
            }
            let word = digit < 16 ? high : low
            let value = UInt8(truncatingIfNeeded: word >> UInt64(60 - digit % 16 * 4)) & 15
            text[position] = value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
            position += 1
        }
    }
}
