/// What an origin said identifies these very bytes (RFC 9110 §8.8).
public struct Validators: Hashable, Sendable {
    /// The entity tag as sent, quotes and `W/` included.
    public var entityTag: String?
    /// The `Last-Modified` time.
    public var lastModified: UnixTime?
    /// Where they were said, if redirects led there.
    public var source: ResponseSource?

    public init(
        entityTag: String? = nil, lastModified: UnixTime? = nil, source: ResponseSource? = nil
    ) {
        self.entityTag = entityTag
        self.lastModified = lastModified
        self.source = source
    }

    /// Whether there is none.
    var isEmpty: Bool { entityTag == nil && lastModified == nil }
}

/// A field of a request, beyond those every request has.
struct RequestField: Equatable {
    var name: String
    var value: String

    /// As curl_slist_append(3) wants it.
    var line: String { "\(name): \(value)" }
}

extension Validators {
    init(_ head: ResponseHead, now: UnixTime) {
        self.init(
            entityTag: head.storableEntityTag, lastModified: head.dates(now: now).lastModified,
            source: head.source)
    }

    /// The fields that make a request conditional: "send it only if it changed". Both where both are
    /// known; who understands the tag disregards the date (RFC 9110 §13.1.3). Empty where nothing is
    /// known.
    var conditionFields: [RequestField] {
        var fields: [RequestField] = []
        if let entityTag { fields.append(RequestField(name: "If-None-Match", value: entityTag)) }
        if let lastModified {
            let date = HTTPDate.format(lastModified)
            fields.append(RequestField(name: "If-Modified-Since", value: date))
        }
        return fields
    }

    /// Whether a 304 with these validators speaks of the response with `stored` (RFC 9111 §4.3.4).
    /// What it does not name it does not contradict; but it has to come from the same place. Tags are
    /// compared byte by byte without their marks of weakness, as who sent the 304 has done (RFC 9110 §8.8.3.2,
    /// §13.1.2).
    func agree(with stored: Validators) -> Bool {
        guard source == stored.source else { return false }
        if let tag = entityTag {
            // A strong one speaks of a response that had it.
            guard let known = stored.entityTag else { return tag.isWeak && agree(onTimeOf: stored) }
            return tag.opaqueTag.utf8.elementsEqual(known.opaqueTag.utf8)
        }
        return agree(onTimeOf: stored)
    }

    private func agree(onTimeOf stored: Validators) -> Bool {
        if let time = lastModified, let known = stored.lastModified { return time == known }
        return true
    }

    /// These, and from `older` what is missing.
    func completed(from older: Validators) -> Validators {
        Validators(
            entityTag: entityTag ?? older.entityTag,
            lastModified: lastModified ?? older.lastModified, source: source ?? older.source)
    }
}

extension String {
    /// Of an entity tag (RFC 9110 §8.8.3).
    fileprivate var isWeak: Bool { hasPrefix("W/") }

    /// An entity tag without its mark of weakness (RFC 9110 §8.8.3.2).
    fileprivate var opaqueTag: Substring { isWeak ? dropFirst(2) : self[...] }
}
