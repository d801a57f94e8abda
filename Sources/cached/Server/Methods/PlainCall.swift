import CacheKey
import CacheWire
import ClientCore
import Glibc

/// A plain `Status` or `Fetch`, the most frequent calls, found in a message without decoding it:
///
///     {"method":"io.cached.Cache.Status","parameters":{"urls":["https://…","https://…"]}}
///
/// The members can be in any order, with white space wherever JSON allows it. The scanner leaves any other message
/// to the JSON decoder, such as one with an escape in a string, a byte beyond ASCII, or another member. Both give
/// the same answer, so the scanner may be strict but never wrong.
struct PlainCall {
    enum Method {
        case status
        /// Streams and other calls have the same reply if all images are cached.
        case fetch
    }

    let method: Method
    /// The number of texts in the list.
    let count: Int
    /// The start of the first text and the end of the last one.
    private let list: Range<Int>

    /// `nil` unless the message is exactly such a call.
    init?(_ message: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(message)
        var method: Method?
        var list: (count: Int, range: Range<Int>)?
        var hasMore = false
        let isObject = scanner.members { name, scanner in
            // The longer name first: a name is searched for escapes only if it is longer than the text.
            if scanner.matches(name, "parameters"), list == nil {
                list = Self.parameters(&scanner)
                return list != nil
            }
            if scanner.matches(name, "method"), method == nil {
                method = Self.method(&scanner)
                return method != nil
            }
            guard scanner.matches(name, "more"), !hasMore else { return false }
            hasMore = true
            return scanner.boolean() != nil
        }
        guard isObject, let method, let list, scanner.isAtEnd else { return nil }
        if hasMore, method == .status { return nil }
        (self.method, count, self.list) = (method, list.count, list.range)
    }

    private static func method(_ scanner: inout JSONScanner) -> Method? {
        guard let name = scanner.plainString() else { return nil }
        if scanner.matches(name, "io.cached.Cache.Status") { return .status }
        return scanner.matches(name, "io.cached.Cache.Fetch") ? .fetch : nil
    }

    private static func parameters(
        _ scanner: inout JSONScanner
    ) -> (count: Int, range: Range<Int>)? {
        var (start, end, count) = (0, 0, 0)
        var hasList = false
        let isObject = scanner.members { name, scanner in
            guard scanner.matches(name, "urls"), !hasList else { return false }
            hasList = true
            return scanner.elements { scanner in
                guard let text = scanner.plainString() else { return false }
                if count == 0 { start = text.lowerBound }
                (end, count) = (text.upperBound, count + 1)
                return true
            }
        }
        return isObject && hasList ? (count, start..<end) : nil
    }
}

extension PlainCall {
    /// The texts of a call, in order, found again in its message without making a list of them.
    struct Texts: Sequence, IteratorProtocol {
        private var rest: Int
        /// The rest of the list, from the first byte of the next text.
        private var bytes: UnsafeRawBufferPointer

        fileprivate init(_ call: PlainCall, in message: UnsafeRawBufferPointer) {
            (rest, bytes) = (call.count, UnsafeRawBufferPointer(rebasing: message[call.list]))
        }

        /// No text contains a quote. Between two texts there are two.
        mutating func next() -> UnsafeRawBufferPointer? {
            guard rest > 0 else { return nil }
            rest -= 1
            let end = Self.quote(in: bytes, from: 0)
            let text = UnsafeRawBufferPointer(rebasing: bytes[..<end])
            if rest > 0 {
                let next = Self.quote(in: bytes, from: end + 1) + 1
                bytes = UnsafeRawBufferPointer(rebasing: bytes[next...])
            }
            return text
        }

        private static func quote(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int {
            var place = start
            while place < bytes.count, bytes[place] != UInt8(ascii: "\"") { place += 1 }
            return place
        }
    }

    /// - Parameter message: the message that the call was found in.
    func texts(in message: UnsafeRawBufferPointer) -> Texts { Texts(self, in: message) }

    /// Appends the keys of the texts. `nil` if one of them is not a URL, or names an account, whose images not everybody
    /// gets.
    func keys(in message: UnsafeRawBufferPointer, to keys: inout [CacheKey]) -> Range<Int>? {
        let first = keys.count
        for text in texts(in: message) {
            guard CacheURL.problem(in: text) == nil, !Self.namesAccount(text) else {
                keys.removeLast(keys.count - first)
                return nil
            }
            keys.append(CacheKey(urlBytes: text))
        }
        return first..<keys.count
    }

    /// memchr(3)
    private static func namesAccount(_ url: UnsafeRawBufferPointer) -> Bool {
        guard let start = url.baseAddress,
            let mark = memchr(start, Int32(UInt8(ascii: "#")), url.count)
        else { return false }
        return url[(UnsafeRawPointer(mark) - start)...].starts(with: "#as=".utf8)
    }
}
