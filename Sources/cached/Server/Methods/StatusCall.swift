import CacheWire
import ClientCore

/// A plain `Status`, the most frequent call, found in a message without decoding it:
///
///     {"method":"io.cached.Cache.Status","parameters":{"urls":["https://…","https://…"]}}
///
/// The members can be in any order, with white space wherever JSON allows it. The scanner leaves any other message
/// to the JSON decoder, such as one with an escape in a string, a byte beyond ASCII, or another member. Both give
/// the same answer, so the scanner may be strict but never wrong.
struct StatusCall {
    /// The positions of the URLs in the message, in order.
    private(set) var urls: [Range<Int>] = []

    private static let method: StaticString = "io.cached.Cache.Status"

    /// `nil` unless the message is exactly such a call.
    init?(_ message: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(message)
        var hasMethod = false
        var hasParameters = false
        let isObject = scanner.members { name, scanner in
            if scanner.matches(name, "method"), !hasMethod {
                hasMethod = true
                return scanner.plainString().map { scanner.matches($0, Self.method) } ?? false
            }
            guard scanner.matches(name, "parameters"), !hasParameters else { return false }
            hasParameters = true
            return parameters(&scanner)
        }
        guard isObject, hasMethod, hasParameters, scanner.isAtEnd else { return nil }
    }

    /// Whether it names an image by the digest of its bytes, which only a file can tell.
    func namesContents(in message: UnsafeRawBufferPointer) -> Bool {
        urls.contains { url in
            message[url].starts(with: RequestedURL.digestPrefix.utf8)
        }
    }

    private mutating func parameters(_ scanner: inout JSONScanner) -> Bool {
        var found: [Range<Int>]?
        let isObject = scanner.members { name, scanner in
            guard scanner.matches(name, "urls"), found == nil else { return false }
            found = scanner.plainStrings()
            return found != nil
        }
        guard isObject, let found else { return false }
        urls = found
        return true
    }
}
