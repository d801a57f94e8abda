internal import CacheKey

extension CacheURL {
    /// Whether the connection will be over TLS. Schemes are case-insensitive (RFC 3986 §3.1).
    var isSecure: Bool {
        string.utf8.dropFirst(4).first.map { $0 | 0x20 } == UInt8(ascii: "s")
    }

    /// The URL in the form that is sent: bytes beyond ASCII are percent-encoded (RFC 3986 §2.5), the others
    /// stay.
    var percentEncoded: String {
        guard string.utf8.contains(where: { $0 >= 0x80 }) else { return string }
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = string.utf8.flatMap { byte -> [UInt8] in
            guard byte >= 0x80 else { return [byte] }
            return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
