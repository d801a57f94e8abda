internal import CacheKey

/// The URL to which redirects led, as a hash.
///
/// Validators belong to the resource at that URL and to no other (RFC 9110 §8.8), and the next time a redirect
/// can lead to another one.
package struct ResponseSource: Hashable, Sendable {
    private let rawValue: UInt64

    /// - Parameter url: the URL. Its fragment is ignored, because no request contains it (RFC 9110 §7.1).
    package init(url: String) {
        var url = String(url.prefix { $0 != "#" })
        rawValue = url.withUTF8 { CacheKey(urlBytes: UnsafeRawBufferPointer($0)).low }
    }

    /// - Parameter digits: hexadecimal digits, as ``description`` has them. `nil` for any other text.
    init?(_ digits: some StringProtocol) {
        guard digits.utf8.count <= 16, let value = UInt64(digits, radix: 16) else { return nil }
        rawValue = value
    }
}

extension ResponseSource: CustomStringConvertible {
    /// The hash in hexadecimal digits.
    package var description: String { String(rawValue, radix: 16) }

    /// The hash as the end of the key of the URL, which it is.
    package var keyEnd: String { String(CacheKey(high: 0, low: rawValue).description.suffix(17)) }
}
