internal import CacheKey

extension CacheURL {
    /// Whether the connection will be over TLS. Schemes are case-insensitive (RFC 3986 §3.1).
    var isSecure: Bool {
        string.utf8.dropFirst(4).first.map { $0 | 0x20 } == UInt8(ascii: "s")
    }

    /// The URL in the form that is sent: without its fragment. Bytes that browsers percent-encode are encoded, the
    /// others stay.
    ///
    /// These are the bytes beyond ASCII, and the characters of the path and query percent-encode sets of the
    /// WHATWG URL standard. RFC 3986 permits none of them in a URL, and servers refuse some. In the query of an
    /// `http` URL the standard adds the apostrophe.
    var percentEncoded: String {
        let string = withoutFragment.string
        guard string.utf8.contains(where: { Self.isEncoded($0) || $0 == Self.apostrophe }) else {
            return string
        }
        let digits = Array("0123456789ABCDEF".utf8)
        var isQuery = false
        let bytes = string.utf8.flatMap { byte -> [UInt8] in
            isQuery = isQuery || byte == UInt8(ascii: "?")
            guard Self.isEncoded(byte) || isQuery && byte == Self.apostrophe else { return [byte] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let apostrophe = UInt8(ascii: "'")

    private static func isEncoded(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x80..., UInt8(ascii: " "), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"),
            UInt8(ascii: "}"):
            true
        default: false
        }
    }
}
