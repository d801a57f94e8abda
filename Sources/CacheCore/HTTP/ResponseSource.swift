internal import CacheKey

/// Where redirects led: a number told from the URL. Validators speak of what lies there and of nothing else
/// (RFC 9110 §8.8), and a redirect may lead elsewhere the next time.
public struct ResponseSource: Hashable, Sendable {
    let rawValue: UInt64

    /// Of a URL; its fragment is not part of it (RFC 9110 §7.1).
    init(url: String) {
        var url = String(url.prefix { $0 != "#" })
        rawValue = url.withUTF8 { CacheKey(urlBytes: UnsafeRawBufferPointer($0)).low }
    }

    /// Hexadecimal digits, as ``description`` has them.
    init?(_ digits: some StringProtocol) {
        guard digits.utf8.count <= 16, let value = UInt64(digits, radix: 16) else { return nil }
        rawValue = value
    }
}

extension ResponseSource: CustomStringConvertible {
    public var description: String { String(rawValue, radix: 16) }
}
