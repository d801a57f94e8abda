import CacheValues

extension PartialRecord {
    /// The value of the attribute.
    package var text: String {
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

    /// Parses the value of the attribute. `nil` if it is not a record of this version. Unknown fields are
    /// skipped.
    package init?(text: String) {
        let fields = text.split(separator: " ")
        guard fields.first == Self.version[...] else { return nil }
        var values: [Substring: Substring] = [:]
        for field in fields.dropFirst() {
            guard let separator = field.firstIndex(of: "=") else { return nil }
            values[field[..<separator]] = field[field.index(after: separator)...]
        }
        guard let total = values["total"].flatMap({ Int64($0) }), total > 0,
            let validator = StrongValidator(fields: values)
        else { return nil }
        self.init(total: total, validator: validator)
        if let digits = values["at"] {
            guard let source = ResponseSource(digits) else { return nil }
            self.source = source
        }
        boot = values["boot"].map { String($0) }
        if let time = values["fresh"].flatMap({ UInt32($0) }) {
            let terms = ReuseTerms(fields: values)
            freshness = Freshness(until: UnixTime(rawValue: time), terms: terms)
        }
    }
}

extension StrongValidator {
    /// The validator among the fields of a record. `nil` if there is none or it is not strong.
    fileprivate init?(fields: [Substring: Substring]) {
        if let tag = fields["etag"] {
            self.init(entityTag: String(tag))
        } else if let time = fields["modified"].flatMap({ UInt32($0) }) {
            self = .lastModified(UnixTime(rawValue: time))
        } else {
            return nil
        }
    }
}

extension ReuseTerms {
    /// The terms among the fields of a record. A field that is not a number of seconds counts as absent.
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
