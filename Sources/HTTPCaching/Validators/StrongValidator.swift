package import CacheValues

/// A validator that changes with every change of the bytes, so that parts with the same validator can be
/// joined (RFC 9110 §8.8.1).
package enum StrongValidator: Hashable, Sendable {
    case entityTag(String)
    case lastModified(UnixTime)

    /// - Parameter entityTag: a tag without `W/`, because only such a tag is strong. `nil` for other text, which
    ///   a damaged record can have and which would not be a valid field of a request.
    init?(entityTag: String) {
        guard 2...256 ~= entityTag.utf8.count, entityTag.hasPrefix("\""),
            entityTag.hasSuffix("\""), entityTag.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { return nil }
        self = .entityTag(entityTag)
    }

    /// The entity tag of a response, if it is strong. If the response has no tag, the date of its last change.
    ///
    /// The change has to be at least a second before the response's own date. Otherwise a second change within
    /// the same second would go unnoticed (RFC 9110 §8.8.2.2, §13.1.5).
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

    /// The value of an `If-Range` field.
    var fieldValue: String {
        switch self {
        case .entityTag(let tag): tag
        case .lastModified(let time): HTTPDate.format(time)
        }
    }

    /// Whether a 206 states that its bytes belong to this validator. Only parts with the same strong validator may be
    /// joined (RFC 9110 §15.3.7.3).
    func agrees(with head: ResponseHead, now: UnixTime) -> Bool {
        switch self {
        case .entityTag(let tag): head.entityTag?.utf8.elementsEqual(tag.utf8) == true
        case .lastModified(let time): head.dates(now: now).lastModified == time
        }
    }

    /// Whether a response has another validator. A response without any does not contradict.
    func isContradicted(by head: ResponseHead, now: UnixTime) -> Bool {
        switch self {
        case .entityTag: head.entityTag != nil && !agrees(with: head, now: now)
        case .lastModified: head.lastModified != nil && !agrees(with: head, now: now)
        }
    }
}
