package import CacheValues

/// The status and the header fields of a response, as far as a cache needs them.
///
/// A head is built from lines as they arrive. A new status line, as after a redirect, starts a new head and
/// keeps the one before in ``redirects``.
package struct ResponseHead: Sendable {
    /// The status code. 0 before the first line.
    package private(set) var status = 0
    /// Whether the framing shows where the body ends: by a length or by chunks.
    ///
    /// The framing of HTTP/2 would show it too, but libcurl cannot distinguish a stream that was reset without an
    /// error from one that ended (RFC 9113 §8.1).
    package private(set) var isFramed = false
    /// Whether the connection can carry several transfers at once: HTTP/2 or HTTP/3.
    package private(set) var isMultiplexed = false
    /// Whether the body arrives in chunks, which override any length (RFC 9112 §6.3).
    package private(set) var isChunked = false
    package private(set) var contentLength: Int64?
    /// The codings of the body in lower case, in the order in which they were applied, without `identity`
    /// (RFC 9110 §8.4).
    package private(set) var contentCodings: [String] = []
    /// The reference to the target of a redirect (RFC 9110 §10.2.2). Bytes beyond ASCII are percent-encoded.
    package private(set) var location: String?
    private(set) var contentRange: String?
    package private(set) var entityTag: String?
    private(set) var lastModified: String?
    private(set) var date: String?
    private(set) var expires: String?
    private(set) var retryAfter: String?
    private(set) var cacheControl = CacheControl()
    /// `Pragma: no-cache`, which old servers send instead of `Cache-Control` (RFC 9111 §5.4).
    private(set) var hasPragmaNoCache = false
    /// `Vary: *`, with which a response answers no later request (RFC 9111 §4.1).
    private(set) var variesOnAnything = false
    /// The responses that redirected to this one, in order.
    package private(set) var redirects: [ResponseHead] = []
    /// The URL that sent this response, if redirects led to it. `nil` for the requested URL.
    package var source: ResponseSource?
    /// Whether the request said who asks, so that the response is for one user (RFC 9111 §3.5).
    package var isPersonal = false
    /// The description that an object of a store carries. `nil` in responses of origins.
    package private(set) var storeMetadata: StoreMetadata?
    private var ageLine: String?
    /// Whether the empty line at the end has arrived.
    package private(set) var isComplete = false
    /// Whether there is a transfer coding other than chunks, which the cache does not request.
    ///
    /// libcurl decodes it without being asked to, up to five layers deep, and the size of the result has no
    /// limit (RFC 9110 §10.1.4).
    package private(set) var hasTransferCoding = false
    /// Whether two lines have different lengths, so that the end of the body is uncertain (RFC 9112 §6.3).
    package private(set) var hasTwoLengths = false
    /// The last field, if it matters to a cache. The next line can continue it (RFC 9112 §5.2).
    private var pending: (field: HeaderField, value: [UInt8])?
    /// Bytes of header lines so far, of this response and of the ones before it.
    package private(set) var length = 0

    /// The maximum of bytes of header lines.
    package static let maximumLength = 64 * 1024

    /// Creates a head before its first line.
    package init() {}

    /// Creates the head of the response that follows `previous` during the request for one image.
    package init(after previous: ResponseHead) {
        redirects = previous.redirects
        guard previous.isRedirect else { return }
        var redirect = previous
        redirect.redirects = []
        redirects.append(redirect)
    }

    /// Adds one line, including its line end, as libcurl passes it. Returns whether a response begins with it.
    @discardableResult
    package mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        let isFirst = length == 0 || isComplete
        length += line.count
        guard !(isFirst && line.isStatusLine) else {
            begin(line)
            return true
        }
        // This is a trailer of a body that the cache does not need, such as that of a redirect.
        guard !isComplete else { return false }
        let first = line.first ?? 0x0A
        isComplete = first == 0x0A || first == 0x0D
        if first == 0x20 || first == 0x09 {
            continuePending(line)
            return false
        }
        takePending()
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")),
            let field = HeaderField(line[..<colon])
        else { return false }
        pending = (field, Array(line[(colon + 1)...].trimmed))
        return false
    }

    /// The text of a value. A reference can have any bytes, also those that are not UTF-8.
    private static func text(_ bytes: [UInt8], of field: HeaderField) -> String {
        guard field == .location, bytes.contains(where: { $0 >= 0x80 }) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in bytes {
            guard byte >= 0x80 else {
                encoded.append(byte)
                continue
            }
            encoded.append(UInt8(ascii: "%"))
            encoded.append(digits[Int(byte >> 4)])
            encoded.append(digits[Int(byte & 15)])
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Completes the last field, which no further line continues.
    package mutating func takePending() {
        guard let (field, value) = pending else { return }
        pending = nil
        set(field, Self.text(value, of: field))
    }

    /// Counts a line behind the body, whose content is ignored (RFC 9110 §6.5.1).
    package mutating func takeTrailer(_ line: UnsafeRawBufferPointer) {
        length += line.count
    }

    private mutating func continuePending(_ line: UnsafeRawBufferPointer) {
        let more = line[...].trimmed
        guard !more.isEmpty else { return }
        // In its place, because there can be very many short lines.
        if pending?.value.isEmpty == false { pending?.value.append(UInt8(ascii: " ")) }
        pending?.value.append(contentsOf: more)
    }

    private mutating func begin(_ statusLine: UnsafeRawBufferPointer) {
        let read = length
        self = ResponseHead(after: self)
        length = read
        let version = statusLine.prefix { $0 != UInt8(ascii: " ") }
        let rest = statusLine[version.endIndex...].drop { $0 == UInt8(ascii: " ") }
        let code = rest.prefix { $0 != UInt8(ascii: " ") }
        status = Int(String(decoding: code.trimmed, as: UTF8.self)) ?? 0
        isMultiplexed =
            version.starts(with: "HTTP/2".utf8) || version.starts(with: "HTTP/3".utf8)
    }

    private mutating func set(_ field: HeaderField, _ value: String) {
        switch field {
        case .contentLength: setLength(value)
        case .transferEncoding: setTransferCodings(value)
        case .contentEncoding:
            contentCodings += value.members.filter { $0 != "identity" && $0 != "none" }
        case .location: location = location ?? value
        case .contentRange: contentRange = value
        // If a field that is allowed only once comes twice, the first line counts (RFC 9111 §4.2.1).
        case .etag: entityTag = entityTag ?? value
        case .lastModified: lastModified = lastModified ?? value
        case .date: date = date ?? value
        case .expires: expires = expires ?? value
        case .age: ageLine = ageLine ?? value
        case .retryAfter: retryAfter = retryAfter ?? value
        case .cacheControl: cacheControl.add(line: value)
        case .pragma:
            let saysNoCache = Directive.list(value).contains { $0.name == "no-cache" }
            hasPragmaNoCache = hasPragmaNoCache || saysNoCache
        case .storeRecord: storeMetadata = storeMetadata.with { $0.record = value }
        case .storeDigest: storeMetadata = storeMetadata.with { $0.digest = value }
        case .storeURLDigest: storeMetadata = storeMetadata.with { $0.urlDigest = value }
        case .storeLeftOut: storeMetadata = storeMetadata.with { $0.leftOut = value }
        case .storeClaim: storeMetadata = storeMetadata.with { $0.claim = value }
        case .storeSignature: storeMetadata = storeMetadata.with { $0.signature = value }
        case .vary:
            variesOnAnything =
                variesOnAnything || value.members.contains("*")
        }
    }

    private mutating func setTransferCodings(_ value: String) {
        let codings = value.members
        isChunked = codings.last == "chunked"
        isFramed = isFramed || isChunked
        let isPlain = codings.allSatisfy { $0 == "chunked" || $0 == "identity" }
        hasTransferCoding = hasTransferCoding || !isPlain
    }

    private mutating func setLength(_ value: String) {
        if let length = Int64(value), length >= 0 { return set(length: length) }
        let lengths = value.members.map { Int64($0) ?? -1 }
        // libcurl ignores a length that is not a number, and reads to the end of the connection.
        guard lengths.allSatisfy({ $0 >= 0 }) else { return }
        for length in lengths { set(length: length) }
    }

    private mutating func set(length: Int64) {
        hasTwoLengths = hasTwoLengths || length != contentLength ?? length
        contentLength = length
        isFramed = true
    }
}

extension ResponseHead {
    /// Whether this response points at another URL. 304 does not, although libcurl follows any 3xx
    /// (RFC 9110 §15.4.5).
    package var isRedirect: Bool { 300..<400 ~= status && status != 304 }

    /// Whether every coding of the body is registered with IANA. Servers also send a charset, `binary`, or the
    /// framing of their storage there, although the body has no coding.
    package var hasKnownCodings: Bool {
        contentCodings.allSatisfy {
            ["gzip", "x-gzip", "deflate", "br", "zstd", "compress", "x-compress"].contains($0)
        }
    }

    /// Whether the body is a whole image, if it is one. That is a 200, a 203 of a proxy that changed it
    /// (RFC 9110 §15.3.4), and a 206 to a request without a range that contains everything (§15.3.7). A 200 or 203 is
    /// none if its `Content-Range` fits its length and says that it is a part.
    package var isWholeImage: Bool {
        switch status {
        case 200, 203: isWholeRange || !isRange
        case 206: isWholeRange
        default: false
        }
    }

    private var isRange: Bool {
        guard case .part(let first, let last, let total) = range else { return false }
        return contentLength ?? (last - first + 1) == last - first + 1
            && (first > 0 || total != nil)
    }

    var isWholeRange: Bool {
        guard case .part(first: 0, let last, let total?) = range else { return false }
        return last + 1 == total && total == contentLength ?? total
    }

    private var range: ContentRange? { contentRange.flatMap(ContentRange.init) }

    /// Whether the response is a redirect or came after one.
    package var isOnTheWay: Bool { isRedirect || !redirects.isEmpty }

    /// Whether the response is complete and its status is a failure, whatever its body contains.
    package var isFailure: Bool { isComplete && status >= 400 }

    /// Seconds that the response spent in other caches. `nil` if the field is missing or not a number. If the
    /// field comes several times, the first one counts (RFC 9111 §5.1).
    var age: Int64? {
        guard let first = ageLine?.utf8.prefix(while: { $0 != UInt8(ascii: ",") }) else {
            return nil
        }
        return Int64(deltaSeconds: String(decoding: first.trimmed, as: UTF8.self))
    }

    /// Seconds until the server wants to be asked again. `nil` if it did not say so, or not readably
    /// (RFC 9110 §10.2.3).
    package func retryAfterSeconds(now: UnixTime) -> Int64? {
        guard let retryAfter else { return nil }
        if let seconds = Int64(deltaSeconds: retryAfter) { return seconds }
        return HTTPDate.parse(retryAfter, now: now).map { max($0 - now, 0) }
    }

    /// How many seconds a clock that says `now` is ahead of the server's. `nil` if the server does not send its time.
    package func clockDifference(now: UnixTime) -> Int64? {
        dates(now: now).date.map { now - $0 }
    }

    /// The dates of the response. A date is `nil` if it is missing or unreadable.
    struct Dates {
        var date: UnixTime?
        var expires: UnixTime?
        var lastModified: UnixTime?
    }

    /// - Parameter now: decides the century of a two-digit year.
    func dates(now: UnixTime) -> Dates {
        Dates(
            date: date.flatMap { HTTPDate.parse($0, now: now) },
            expires: expires.flatMap { HTTPDate.parseExpiry($0, now: now) },
            lastModified: lastModified.flatMap { HTTPDate.parse($0, now: now) })
    }

    /// The entity tag, if it is short enough to be stored, has no spaces, and is UTF-8. Different tags of other bytes could
    /// become the same text. Tags without quotes are not well-formed (RFC 9110 §8.8.3), but their origins know them.
    var storableEntityTag: String? {
        guard let tag = entityTag, tag.utf8.count <= 256,
            tag.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            !tag.unicodeScalars.contains("\u{FFFD}")
        else { return nil }
        return tag.isEmpty ? nil : tag
    }
}
