/// Turns the bytes of an XML file into characters, as far as its markup needs them.
///
/// Extensible Markup Language 1.0 (Fifth Edition) §4.3.3. Markup consists of ASCII characters, which are
/// single bytes in UTF-8 and in the older encodings. UTF-16 has two bytes for each, and starts with a byte
/// order mark.
struct XMLDecoder: Sendable {
    private enum Encoding {
        case singleBytes, bigEndian, littleEndian
    }

    /// Bytes of the longest byte order mark. No SVG is shorter.
    static let headLength = 3

    /// Bytes of the byte order mark, which is not a character.
    let markLength: Int
    private let encoding: Encoding
    /// The first byte of a character of two bytes.
    private var first: UInt8?

    /// - Parameter head: the first ``headLength`` bytes of the file.
    init(_ head: ByteField) {
        if head.holds([0xFE, 0xFF]) {
            (encoding, markLength) = (.bigEndian, 2)
        } else if head.holds([0xFF, 0xFE]) {
            (encoding, markLength) = (.littleEndian, 2)
        } else {
            (encoding, markLength) = (.singleBytes, head.holds([0xEF, 0xBB, 0xBF]) ? 3 : 0)
        }
    }

    /// Whether each byte is a character, or a part of one outside of ASCII.
    var isTransparent: Bool { encoding == .singleBytes }

    /// The character that ends with `byte`. A character outside of ASCII becomes one between 0x80 and 0xFF.
    /// `nil` if the character continues.
    mutating func character(_ byte: UInt8) -> UInt8? {
        guard encoding != .singleBytes else { return byte }
        guard let first else {
            first = byte
            return nil
        }
        self.first = nil
        let (high, low) = encoding == .bigEndian ? (first, byte) : (byte, first)
        return high == 0 ? low : 0x80 | low
    }
}
