/// What a response says before its body, as far as a cache cares. Built line by line as they arrive;
/// a new status line, as after a redirect, starts over.
struct ResponseHead {
    /// The status code; 0 before the first line.
    private(set) var status = 0
    /// Whether the transfer's framing tells where the body ends: a length or chunks. HTTP/2 does, too, but
    /// libcurl takes a stream that is reset without an error for one that ended (RFC 9113 §8.1).
    private(set) var isFramed = false
    /// Whether it came over a connection that other transfers may share: HTTP/2 or HTTP/3.
    private(set) var isMultiplexed = false
    /// Whether the body comes in chunks, which go before any length (RFC 9112 §6.3).
    private(set) var isChunked = false
    private(set) var contentLength: Int64?
    /// The codings applied to the body, none for `identity` (RFC 9110 §8.4).
    private(set) var contentEncoding: String?
    private(set) var contentRange: String?
    private(set) var entityTag: String?
    private(set) var lastModified: String?
    private(set) var date: String?
    private(set) var expires: String?
    private(set) var retryAfter: String?
    private(set) var cacheControl = CacheControl()
    /// `Pragma: no-cache`, which old servers send instead of `Cache-Control` (RFC 9111 §5.4).
    private(set) var hasPragmaNoCache = false
    /// `Vary: *`: nobody can tell to which other request this would be the answer (RFC 9111 §4.1).
    private(set) var variesOnAnything = false
    /// Those that redirected here, in order.
    private(set) var redirects: [ResponseHead] = []
    /// Where it came from if redirects led there; `nil` for the URL that was asked for.
    var source: ResponseSource?
    private var ageLine: String?
    /// Whether the empty line at its end was there.
    private(set) var isComplete = false
    /// A transfer coding besides chunks, which nobody asked for. libcurl unpacks it by itself, five layers
    /// deep, and what comes of it knows no limit (RFC 9110 §10.1.4).
    private(set) var hasTransferCoding = false
    /// Two lines promise different lengths: nobody knows where the body ends (RFC 9112 §6.3).
    private(set) var hasTwoLengths = false
    /// The field that came last, if it matters: the next line may go on with it (RFC 9112 §5.2).
    private var pending: (field: Field, value: String)?
    /// Bytes of header lines so far.
    private(set) var length = 0

    /// Header bytes of one response, at most.
    static let maximumLength = 64 * 1024

    init() {}

    /// What comes next on the way of the same image.
    init(after previous: ResponseHead) {
        redirects = previous.redirects
        guard previous.isRedirect else { return }
        var redirect = previous
        redirect.redirects = []
        redirects.append(redirect)
    }

    /// Takes one line, its end included, as libcurl hands them over; whether a response begins with it.
    @discardableResult
    mutating func take(_ line: UnsafeRawBufferPointer) -> Bool {
        let isFirst = length == 0 || isComplete
        length += line.count
        guard !(isFirst && line.isStatusLine) else {
            begin(line)
            return true
        }
        // A trailer of what nobody wants.
        guard !isComplete else { return false }
        let first = line.first ?? 0x0A
        isComplete = first == 0x0A || first == 0x0D
        if first == 0x20 || first == 0x09 {
            guard let (field, value) = pending else { return false }
            let more = String(decoding: line[...].trimmed, as: UTF8.self)
            pending = (field, "\(value) \(more)".trimmed)
            return false
        }
        takePending()
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let field = Field(line[..<colon])
        else { return false }
        pending = (field, String(decoding: line[(colon + 1)...].trimmed, as: UTF8.self))
        return false
    }

    /// No line goes on with the last field.
    mutating func takePending() {
        guard let (field, value) = pending else { return }
        pending = nil
        set(field, value)
    }

    /// Takes a line behind the body, which says nothing of it (RFC 9110 §6.5.1).
    mutating func takeTrailer(_ line: UnsafeRawBufferPointer) {
        length += line.count
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

    private mutating func set(_ field: Field, _ value: String) {
        switch field {
        case .contentLength: setLength(value)
        case .transferEncoding: setTransferCodings(value)
        case .contentEncoding:
            if !["", "identity"].contains(value.lowercased()) { contentEncoding = value }
        case .contentRange: contentRange = value
        // Of a field that may be there once only, the first line counts (RFC 9111 §4.2.1).
        case .etag: entityTag = entityTag ?? value
        case .lastModified: lastModified = lastModified ?? value
        case .date: date = date ?? value
        case .expires: expires = expires ?? value
        case .age: ageLine = ageLine ?? value
        case .retryAfter: retryAfter = retryAfter ?? value
        case .cacheControl: cacheControl.take(value)
        case .pragma:
            let saysNoCache = Directive.list(value).contains { $0.name == "no-cache" }
            hasPragmaNoCache = hasPragmaNoCache || saysNoCache
        case .vary:
            variesOnAnything =
                variesOnAnything || value.split(separator: ",").contains { $0.trimmed == "*" }
        }
    }

    private mutating func setTransferCodings(_ value: String) {
        let codings = value.lowercased().split(separator: ",").map(\.trimmed)
        isChunked = codings.last == "chunked"
        isFramed = isFramed || isChunked
        let isPlain = codings.allSatisfy { ["chunked", "identity", ""].contains($0) }
        hasTransferCoding = hasTransferCoding || !isPlain
    }

    private mutating func setLength(_ value: String) {
        if let length = Int64(value), length >= 0 { return take(length) }
        let lengths = value.split(separator: ",").map { Int64($0.trimmed) ?? -1 }
        // libcurl reads on to the end of the connection where it can't make a number of it.
        guard lengths.allSatisfy({ $0 >= 0 }) else { return }
        for length in lengths { take(length) }
    }

    private mutating func take(_ length: Int64) {
        hasTwoLengths = hasTwoLengths || length != contentLength ?? length
        contentLength = length
        isFramed = true
    }
}

/// The fields that matter to a cache, by their names in lower case.
private enum Field: String, CaseIterable {
    case contentLength = "content-length"
    case transferEncoding = "transfer-encoding"
    case contentEncoding = "content-encoding"
    case contentRange = "content-range"
    case etag, lastModified = "last-modified", date, expires, age, retryAfter = "retry-after"
    case cacheControl = "cache-control"
    case pragma, vary

    private static let names = allCases.map { (field: $0, name: Array($0.rawValue.utf8)) }

    /// In any case (RFC 9110 §5.1); `nil` for all others.
    init?(_ name: Slice<UnsafeRawBufferPointer>) {
        let found = Self.names.first { field in
            // Most fields are none of these, and their length tells.
            field.name.count == name.count
                && name.elementsEqual(field.name) { $0.lowercasedASCII == $1 }
        }
        guard let found else { return nil }
        self = found.field
    }
}

extension ResponseHead {
    /// Whether another URL is the answer. 304 is none, though libcurl follows any 3xx (RFC 9110 §15.4.5).
    var isRedirect: Bool { 300..<400 ~= status && status != 304 }

    /// Whether redirects lead on from here, or led here.
    var isOnTheWay: Bool { isRedirect || !redirects.isEmpty }

    /// Whether it is a failure, whatever its body says.
    var isFailure: Bool { isComplete && status >= 400 }

    /// Seconds the response spent in other caches; `nil` where it is absent or no number. Where there
    /// are several, the first (RFC 9111 §5.1).
    var age: Int64? {
        ageLine.flatMap { $0.prefix { $0 != "," }.trimmed }.flatMap { Int64(deltaSeconds: $0) }
    }

    /// The dates of the head; `nil` where absent or unreadable.
    struct Dates {
        var date: UnixTime?
        var expires: UnixTime?
        var lastModified: UnixTime?
    }

    func dates(now: UnixTime) -> Dates {
        Dates(
            date: date.flatMap { HTTPDate.parse($0, now: now) },
            expires: expires.flatMap { HTTPDate.parse($0, now: now) },
            lastModified: lastModified.flatMap { HTTPDate.parse($0, now: now) })
    }

    /// The entity tag, if it is one, short enough to keep (RFC 9110 §8.8.3), and text: of other bytes none
    /// could be told from another.
    var storableEntityTag: String? {
        guard let tag = entityTag, tag.utf8.count <= 256,
            tag.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }),
            !tag.unicodeScalars.contains("\u{FFFD}")
        else { return nil }
        let quoted = tag.utf8.starts(with: "W/".utf8) ? tag.utf8.dropFirst(2) : tag.utf8[...]
        let isQuoted = quoted.first == UInt8(ascii: "\"") && quoted.last == UInt8(ascii: "\"")
        return isQuoted && quoted.count >= 2 ? tag : nil
    }
}

extension StringProtocol {
    /// Without white space around it, line ends included.
    var trimmed: String {
        String(decoding: Substring(self).utf8.trimmed, as: UTF8.self)
    }
}

extension BidirectionalCollection<UInt8> where SubSequence: BidirectionalCollection<UInt8> {
    /// Without white space around it, line ends included (RFC 9110 §5.6.3).
    fileprivate var trimmed: SubSequence {
        let tail = drop(while: \.isSpace)
        guard let last = tail.lastIndex(where: { !$0.isSpace }) else { return suffix(0) }
        return self[tail.startIndex...last]
    }
}

extension UnsafeRawBufferPointer {
    /// Whether a response begins with this line, at the place of one. libcurl takes it in any case.
    var isStatusLine: Bool {
        starts(with: "HTTP/".utf8) { $0.lowercasedASCII == $1.lowercasedASCII }
    }
}

extension UInt8 {
    /// Space, tab, or one of the four that end lines: LF, VT, FF, CR.
    fileprivate var isSpace: Bool { self == 0x20 || 0x09...0x0D ~= self }
}
