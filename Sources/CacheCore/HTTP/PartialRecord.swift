/// What the cache remembers of an interrupted download, in one extended attribute of `NAME.part`.
///
///     v1 total=1028192 boot=3f1c0a9be4d24877 fresh=1790003600 lifetime=3600 etag="6b012ffe-fb060"
///
/// There is one only if the download can be continued: its length is known and its origin gave a
/// strong validator.
struct PartialRecord: Hashable, Sendable {
    /// Bytes of the whole image.
    let total: Int64
    let validator: StrongValidator
    /// Where it was said, if redirects led there.
    var source: ResponseSource?
    /// Names the time between two starts of the machine it was written in.
    var boot: String?
    /// What the first response said of its use; the rest need not say it again (RFC 9111 §3.4).
    var freshness = Freshness.unknown

    static let attributeName = "user.cached.partial"
    private static let version = "v1"

    init(total: Int64, validator: StrongValidator) {
        self.total = total
        self.validator = validator
    }

    /// The record of a download whose response began with `head`; `nil` if it can only start over.
    init?(_ head: ResponseHead, now: UnixTime) {
        guard head.status == 200, head.contentEncoding == nil,
            let total = head.contentLength, total > 0,
            let validator = StrongValidator(head, now: now)
        else { return nil }
        self.init(total: total, validator: validator)
        source = head.source
    }

    /// The attribute's value.
    var text: String {
        var text = Self.version
        func add(_ name: String, _ value: String?) {
            if let value { text += " \(name)=\(value)" }
        }
        add("total", "\(total)")
        add("at", source.map { "\($0)" })
        add("boot", boot)
        if freshness != .unknown {
            add("fresh", "\(freshness.until.rawValue)")
            freshness.terms.forEachField(add)
        }
        switch validator {
        case .entityTag(let tag): add("etag", tag)
        case .lastModified(let time): add("modified", "\(time.rawValue)")
        }
        return text
    }

    /// Parses an attribute's value; `nil` when it is not a record of this version. Fields that are not
    /// known are skipped.
    init?(text: String) {
        let fields = text.split(separator: " ")
        guard fields.first == Self.version[...] else { return nil }
        var values: [Substring: Substring] = [:]
        for field in fields.dropFirst() {
            guard let separator = field.firstIndex(of: "=") else { return nil }
            values[field[..<separator]] = field[field.index(after: separator)...]
        }
        guard let total = values["total"].flatMap({ Int64($0) }), total > 0 else { return nil }
        if let tag = values["etag"] {
            guard let validator = StrongValidator(entityTag: String(tag)) else { return nil }
            self.init(total: total, validator: validator)
        } else if let time = values["modified"].flatMap({ UInt32($0) }) {
            self.init(total: total, validator: .lastModified(UnixTime(rawValue: time)))
        } else {
            return nil
        }
        if let place = values["at"] {
            guard let source = ResponseSource(place) else { return nil }
            self.source = source
        }
        boot = values["boot"].map { String($0) }
        if let time = values["fresh"].flatMap({ UInt32($0) }) {
            let terms = ReuseTerms(fields: values)
            freshness = Freshness(until: UnixTime(rawValue: time), terms: terms)
        }
    }
}

extension ReuseTerms {
    /// Of the fields of a record; what is no number of seconds is not there.
    fileprivate init(fields: [Substring: Substring]) {
        self.init()
        func number(_ name: Substring) -> Int64? {
            fields[name].flatMap { UInt32($0) }.map(Int64.init)
        }
        lifetime = number("lifetime")
        isGuessed = number("guessed") == 1
        mustRevalidate = number("strict") == 1
        staleWhileRevalidate = number("swr")
        staleIfError = number("sie")
    }
}

/// A validator that changes with every change of the bytes, so that parts may be put together by it
/// (RFC 9110 §8.8.1).
enum StrongValidator: Hashable, Sendable {
    case entityTag(String)
    case lastModified(UnixTime)

    /// Only an entity tag without `W/` is strong. What is none, as a garbled record may have it, would
    /// not be fit for a request either.
    init?(entityTag: String) {
        guard 2...256 ~= entityTag.utf8.count, entityTag.hasPrefix("\""),
            entityTag.hasSuffix("\""), entityTag.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        self = .entityTag(entityTag)
    }

    /// The entity tag, if it is strong. Without any tag the date of the last change, if it lies at
    /// least a second before the response's own date: a second change within the same second would
    /// otherwise go unnoticed (RFC 9110 §8.8.2.2, §13.1.5).
    init?(_ head: ResponseHead, now: UnixTime) {
        if head.entityTag != nil {
            guard let tag = head.storableEntityTag else { return nil }
            self.init(entityTag: tag)
            return
        }
        let dates = head.dates(now: now)
        guard let changed = dates.lastModified, let date = dates.date, date - changed >= 1 else {
            return nil
        }
        self = .lastModified(changed)
    }

    /// As `If-Range` names it.
    var fieldValue: String {
        switch self {
        case .entityTag(let tag): tag
        case .lastModified(let time): HTTPDate.format(time)
        }
    }

    /// Whether a 206 says that its bytes belong to these. It has to repeat the entity tag, but not the date
    /// (RFC 9110 §15.3.7).
    func agrees(with head: ResponseHead, now: UnixTime) -> Bool {
        switch self {
        case .entityTag(let tag): head.entityTag?.utf8.elementsEqual(tag.utf8) == true
        case .lastModified(let time):
            head.lastModified == nil || head.dates(now: now).lastModified == time
        }
    }

    /// Whether a response that may do without it has another one.
    func isContradicted(by head: ResponseHead, now: UnixTime) -> Bool {
        switch self {
        case .entityTag: head.entityTag != nil && !agrees(with: head, now: now)
        case .lastModified: !agrees(with: head, now: now)
        }
    }
}
