import CCrypto
import ClientCore

/// The secret that an application shares with the HTTP face, and the texts signed with it.
struct Signature: Sendable {
    private let secret: [UInt8]

    init(secret: [UInt8]) {
        self.secret = secret
    }

    /// The signature of a URL, until a time or for ever: HMAC-SHA-256 in hexadecimal digits. Without a time the URL is
    /// signed, else the time in decimal digits, a line feed and the URL. A URL has no line feed, so neither can be taken
    /// for the other. `nil` if libcrypto fails.
    func of(_ url: String, until expiry: Int?) -> String? {
        digest((expiry.map { "\($0)\n" } ?? "") + url).map(Self.hexadecimal)
    }

    /// HMAC-SHA-256 of a text; `nil` if libcrypto fails.
    private func digest(_ text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        var digest = [UInt8](repeating: 0, count: 32)
        guard ccrypto_hmac_sha256(secret, secret.count, text, text.count, &digest) == 1 else {
            return nil
        }
        return digest
    }

    static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a signature belongs to a URL.
    func matches(_ signature: String, _ url: String, until expiry: Int?) -> Bool {
        of(url, until: expiry).map { Self.areEqual($0.utf8, signature.utf8) } ?? false
    }

    /// Whether bytes are the HMAC-SHA-256 of a URL.
    func matches(_ signature: [UInt8], _ url: String) -> Bool {
        digest(url).map { Self.areEqual($0, signature) } ?? false
    }

    /// The time of a comparison reveals nothing of the right bytes.
    private static func areEqual(
        _ right: some Collection<UInt8>, _ given: some Collection<UInt8>
    ) -> Bool {
        right.count == given.count && zip(right, given).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The path and query of a signed image.
    func path(_ url: String, until expiry: Int?) -> String? {
        guard let signature = of(url, until: expiry) else { return nil }
        return "/i/\(ImageName(of: url).text)?url=\(Self.escaped(url))"
            + (expiry.map { "&expires=\($0)" } ?? "")
            + "&sig=\(signature)"
    }

    /// Everything but unreserved characters in percent escapes (RFC 3986 §2.3).
    private static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        let digits = Array("0123456789ABCDEF".utf8)
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ImageName {
    /// The 36 characters.
    var text: String {
        String(unsafeUninitializedCapacity: Self.length) { room in
            write(to: room.baseAddress!)
            return Self.length
        }
    }

    init(of url: String) {
        var url = url
        self = url.withUTF8 { ImageName(url: UnsafeRawBufferPointer($0)) }
    }
}
