/// The SHA-256 of an image's bytes, written as 64 hex digits in lower case.
///
///     let digest = ContentDigest(String(repeating: "0", count: 64))
public struct ContentDigest: Hashable, Sendable, LosslessStringConvertible {
    let bytes: SIMD32<UInt8>

    package init(_ bytes: SIMD32<UInt8>) {
        self.bytes = bytes
    }

    /// The first four bytes, by which the index finds files that may have equal bytes. 0 stands for a digest that is
    /// not known, so a digest that begins with four zeros gives 1.
    package var prefix: UInt32 {
        let number = (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(bytes[$1]) }
        return max(number, 1)
    }

    /// - Parameter description: 64 hex digits in upper or lower case. Any other text gives `nil`.
    public init?(_ description: String) {
        var text = description
        let digest = text.withUTF8 { digits -> Self? in
            guard digits.count == 64 else { return nil }
            var bytes = SIMD32<UInt8>()
            for index in bytes.indices {
                guard let first = Self.value(ofDigit: digits[2 * index]),
                    let second = Self.value(ofDigit: digits[2 * index + 1])
                else { return nil }
                bytes[index] = first << 4 | second
            }
            return Self(bytes)
        }
        guard let digest else { return nil }
        self = digest
    }

    private static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// 64 hex digits in lower case.
    public var description: String {
        String(unsafeUninitializedCapacity: 64) { text in
            for index in bytes.indices {
                text[2 * index] = Self.hexDigit(bytes[index] >> 4)
                text[2 * index + 1] = Self.hexDigit(bytes[index] & 15)
            }
            return 64
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
