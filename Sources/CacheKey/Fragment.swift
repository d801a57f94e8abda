/// The fragment of a URL, which names a variant of the image: `as=NAME`, `side=N`, or `as=NAME&side=N`.
///
/// A fragment never leaves the machine (RFC 3986 §3.5), and it is hashed with the URL. So each variant has exactly
/// one spelling.
struct Fragment: Equatable {
    /// The lengths of the longer side of a derived image, in pixels.
    static let sides = [32, 64, 128, 256, 512, 1024, 2048]
    /// The longest name of an account, in bytes of UTF-8.
    static let longestAccount = 128

    /// The name of the account. `nil` if the fragment has none.
    private(set) var account: String?
    /// The longer side in pixels. `nil` if the fragment has none.
    private(set) var side: Int?

    /// - Parameter bytes: the fragment, without the `#`.
    /// - Throws: ``InvalidURL``, which names the nearest correct fragment.
    init(_ bytes: Slice<UnsafeRawBufferPointer>) throws(InvalidURL) {
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let value = String(
                decoding: part.drop { $0 != UInt8(ascii: "=") }.dropFirst(), as: UTF8.self)
            if part.starts(with: "as=".utf8), account == nil {
                account = Self.decoded(value)
            } else if part.starts(with: "side=".utf8), side == nil, let number = Int(value) {
                side = Self.sides.first { $0 >= number } ?? Self.sides.last
            }
        }
        if let account, account.utf8.count > Self.longestAccount {
            throw InvalidURL(
                "the account in its fragment has \(account.utf8.count) bytes, more than \(Self.longestAccount)"
            )
        }
        guard !bytes.elementsEqual(text.utf8) || text.isEmpty else { return }
        throw InvalidURL(
            text.isEmpty
                ? "its fragment names no variant; leave off the #, or write #side=256 or #as=NAME"
                : "its fragment names no variant; write #\(text)")
    }

    /// The fragment as it is written, without the `#`.
    private var text: String {
        let account = account.map { "as=" + Self.encoded($0) }
        return [account, side.map { "side=\($0)" }].compactMap { $0 }.joined(separator: "&")
    }

    /// Percent-encodes every byte that RFC 3986 §2.3 does not call unreserved.
    static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let bytes = text.utf8.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                [byte]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text without percent-encoding; `nil` if it is empty, has control bytes, or is not UTF-8.
    private static func decoded(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let digits = bytes[(index + 1)...].prefix(2)
            if bytes[index] == UInt8(ascii: "%"), digits.count == 2,
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(byte)
                index += 3
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        guard !decoded.isEmpty, decoded.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: decoded, as: UTF8.self)
    }
}
