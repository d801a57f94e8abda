package import CacheValues

/// The values by which an origin identifies a version of an image (RFC 9110 §8.8).
package struct Validators: Hashable, Sendable {
    /// The entity tag as the origin sent it, including quotes and `W/`.
    package var entityTag: String?
    /// The `Last-Modified` time.
    package var lastModified: UnixTime?
    /// `Last-Modified` as the origin sent it, if it has another form than HTTP's or is no date. Many origins only compare
    /// the text that comes back (RFC 9110 §13.1.3).
    package var modifiedText: String?
    /// The URL that sent these values, if redirects led to it.
    package var source: ResponseSource?
    /// The first bytes of the digest of the original, if the image was derived from it; see ``ContentDigest/prefix``.
    package var original: UInt32?

    package init(
        entityTag: String? = nil, lastModified: UnixTime? = nil, modifiedText: String? = nil,
        source: ResponseSource? = nil
    ) {
        self.entityTag = entityTag
        (self.lastModified, self.modifiedText) = (lastModified, modifiedText)
        self.source = source
    }

    /// Whether the origin sent neither of the two values.
    var isEmpty: Bool { entityTag == nil && lastModified == nil && modifiedText == nil }
}

extension Validators {
    init(_ head: ResponseHead, _ dates: ResponseHead.Dates) {
        let time = dates.lastModified
        let isUsual = head.lastModified.map { HTTPDate.parseUsual($0) != nil } ?? true
        self.init(
            entityTag: head.storableEntityTag, lastModified: time,
            modifiedText: isUsual ? nil : head.lastModified.flatMap { $0.isDateText ? $0 : nil },
            source: head.source)
    }

    /// The fields that make a request conditional: "send the image only if it changed".
    ///
    /// Both fields are sent if both values are known. A tag comes from a record, which other programs can write, so it is
    /// left out if it could end the field or the head. A server that understands the tag ignores the date
    /// (RFC 9110 §13.1.3). Without any value there are no fields.
    package var conditionFields: [RequestField] {
        var fields: [RequestField] = []
        if let entityTag, entityTag.isFieldValue {
            fields.append(RequestField(name: "If-None-Match", value: entityTag))
        }
        if let date = modifiedText ?? lastModified.map(HTTPDate.format), date.isDateText {
            fields.append(RequestField(name: "If-Modified-Since", value: date))
        }
        return fields
    }

    /// Whether a 304 with these validators concerns the response with the `stored` ones (RFC 9111 §4.3.4).
    ///
    /// A value that the 304 leaves out does not contradict the stored one, but the 304 has to come from the same
    /// URL. Tags are compared byte by byte and without `W/`, as the sender of the 304 has done
    /// (RFC 9110 §8.8.3.2, §13.1.2).
    func agree(with stored: Validators) -> Bool {
        guard source == stored.source else { return false }
        if let tag = entityTag {
            // A strong tag belongs to a response that had this tag, and the stored one had none.
            guard let known = stored.entityTag else { return tag.isWeak && agree(onTimeOf: stored) }
            return tag.opaqueTag.utf8.elementsEqual(known.opaqueTag.utf8)
        }
        return agree(onTimeOf: stored)
    }

    private func agree(onTimeOf stored: Validators) -> Bool {
        if let time = lastModified, let known = stored.lastModified { return time == known }
        if let text = modifiedText, let known = stored.modifiedText { return text == known }
        return true
    }

    /// These validators, completed with the values of `older` that they lack.
    func completed(from older: Validators) -> Validators {
        var all = Validators(
            entityTag: entityTag ?? older.entityTag,
            lastModified: lastModified ?? older.lastModified,
            modifiedText: lastModified == nil ? modifiedText ?? older.modifiedText : modifiedText,
            source: source ?? older.source)
        all.original = older.original
        return all
    }
}

extension String {
    /// Whether the text has neither control characters nor spaces, so that it can be the value of a field
    /// (RFC 9110 §5.5, §8.8.3).
    fileprivate var isFieldValue: Bool {
        !isEmpty && utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }
    }

    /// Whether the text can be the value of a field, and can stand in a record, where `_` stands for a space.
    fileprivate var isDateText: Bool {
        1...64 ~= utf8.count && utf8.allSatisfy { 0x20...0x7E ~= $0 && $0 != UInt8(ascii: "_") }
    }

    /// Whether this entity tag is weak (RFC 9110 §8.8.3).
    fileprivate var isWeak: Bool { hasPrefix("W/") }

    /// This entity tag without `W/` (RFC 9110 §8.8.3.2).
    fileprivate var opaqueTag: Substring { isWeak ? dropFirst(2) : self[...] }
}
