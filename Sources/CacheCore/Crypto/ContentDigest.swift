/// The SHA-256 of an image's bytes, written as 64 hex digits in lower case.
public struct ContentDigest: Hashable, Sendable, LosslessStringConvertible {
    private let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        precondition(bytes.count == 32, "a SHA-256 has 32 bytes, not \(bytes.count)")
        self.bytes = bytes
    }

    /// That of bytes in memory.
    init(of bytes: [UInt8]) {
        var computation = SHA256()
        bytes.withUnsafeBytes { computation.update($0) }
        self = computation.finish()
    }

    /// Parses 64 hex digits of either case; `nil` for anything else.
    public init?(_ description: String) {
        let digits = description.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 64, description.utf8.count == 64 else { return nil }
        self.init(stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    public var description: String {
        String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = Self.hexDigit(byte >> 4)
                text[2 * index + 1] = Self.hexDigit(byte & 15)
            }
            return 2 * bytes.count
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
