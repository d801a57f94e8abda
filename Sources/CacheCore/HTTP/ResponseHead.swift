/// What a response says before its body, as far as a cache cares. Built line by line as they arrive;
/// a new status line, as after a redirect, starts over.
struct ResponseHead {
    /// The status code; 0 before the first line.
    private(set) var status = 0
    /// Whether the transfer's framing tells where the body ends: a length, chunks, or HTTP/2.
    private(set) var isFramed = false
    private(set) var contentLength: Int64?
    /// The codings applied to the body, none for `identity` (RFC 9110 §8.4).
    private(set) var contentEncoding: String?
    private(set) var entityTag: String?
    private(set) var lastModified: String?
    private(set) var date: String?
    private(set) var expires: String?
    private(set) var age: Int64?
    private(set) var cacheControl = CacheControl()
    /// Bytes of header lines so far.
    private(set) var length = 0

    /// Header bytes of one response, at most.
    static let maximumLength = 64 * 1024

    /// Takes one line, its end included, as libcurl hands them over.
    mutating func take(_ line: UnsafeRawBufferPointer) {
        length += line.count
        let text = String(decoding: line, as: UTF8.self)
        guard !text.hasPrefix("HTTP/") else { return begin(text) }
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
        let value = text[text.index(after: colon)...].trimmed
        set(text[..<colon].lowercased(), value)
    }

    private mutating func begin(_ statusLine: String) {
        let read = length
        self = ResponseHead()
        length = read
        let parts = statusLine.split(separator: " ", maxSplits: 2)
        status = parts.count > 1 ? Int(parts[1].trimmed) ?? 0 : 0
        isFramed = parts.first.map { $0 == "HTTP/2" || $0 == "HTTP/3" } ?? false
    }

    private mutating func set(_ name: String, _ value: String) {
        switch name {
        case "content-length":
            contentLength = Int64(value)
            isFramed = true
        case "transfer-encoding": isFramed = isFramed || value.lowercased().hasSuffix("chunked")
        case "content-encoding": contentEncoding = value.lowercased() == "identity" ? nil : value
        case "etag": entityTag = value
        case "last-modified": lastModified = value
        case "date": date = value
        case "expires": expires = value
        case "age": age = Int64(value)
        case "cache-control": cacheControl.take(value)
        default: break
        }
    }
}

/// The directives of `Cache-Control` a cache of this kind obeys (RFC 9111 §5.2.2).
struct CacheControl {
    /// Seconds a response stays fresh.
    private(set) var maxAge: Int64?

    /// Takes one field line; several add up.
    mutating func take(_ line: String) {
        for directive in line.lowercased().split(separator: ",") {
            let parts = directive.trimmed.split(separator: "=", maxSplits: 1)
            guard parts.first == "max-age", parts.count == 2 else { continue }
            // Too large a number means "very long" (RFC 9111 §1.2.2); not a number, stale at once.
            let digits = parts[1].filter { $0 != "\"" }
            let isNumber = !digits.isEmpty && digits.allSatisfy(\.isNumber)
            maxAge = isNumber ? Int64(digits) ?? Int64(Int32.max) : 0
        }
    }
}

extension StringProtocol {
    /// Without white space around it, line ends included.
    var trimmed: String {
        let space: (Character) -> Bool = { $0 == " " || $0 == "\t" || $0.isNewline }
        let tail = drop(while: space)
        guard let last = tail.lastIndex(where: { !space($0) }) else { return "" }
        return String(tail[...last])
    }
}
