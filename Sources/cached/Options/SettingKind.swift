import CacheWire

/// A kind of value: how people write it, and its meaning.
struct SettingKind<Value>: Sendable {
    /// The word that stands for a value in help texts, such as `SIZE`.
    let placeholder: String
    /// The permitted values, if they are few.
    private(set) var words: [String] = []
    /// The text between the values of a list; `nil` if there is one value.
    var separator: String?
    let parse: @Sendable (String) throws(WrongValue) -> Value

    init(
        _ placeholder: String, parse: @escaping @Sendable (String) throws(WrongValue) -> Value
    ) {
        (self.placeholder, self.parse) = (placeholder, parse)
    }

    /// - Parameters:
    ///   - expected: continues the sentence "… is VALUE, not …".
    ///   - meaning: `nil` for a wrong value.
    init(
        _ placeholder: String, _ expected: String,
        meaning: @escaping @Sendable (String) -> Value?
    ) {
        self.init(placeholder) { (text) throws(WrongValue) in
            guard let value = meaning(text) else { throw WrongValue(expected) }
            return value
        }
    }

    /// One of a few words.
    init(words: [String], meaning: @escaping @Sendable (String) -> Value?) {
        let expected = words.dropLast().joined(separator: ", ") + " or \(words.last ?? "")"
        self.init(words.joined(separator: "|"), expected) { text in
            words.contains(text) ? meaning(text) : nil
        }
        self.words = words
    }

    /// Several values of a kind, with commas between them.
    static func list<Element>(of kind: SettingKind<Element>) -> Self where Value == [Element] {
        var list = SettingKind(kind.placeholder) { (text) throws(WrongValue) in
            var values: [Element] = []
            for part in text.split(separator: ",").map({ String($0).trimmed }) where !part.isEmpty {
                do throws(WrongValue) {
                    values.append(try kind.parse(part))
                } catch {
                    throw WrongValue(error.expected, shown: part)
                }
            }
            return values
        }
        (list.words, list.separator) = (kind.words, ",")
        return list
    }
}

/// A value that a setting cannot have.
struct WrongValue: Error {
    /// The permitted values; it continues the sentence "… is VALUE, not …".
    let expected: String
    /// The value as it may be shown, if that is not all of it.
    let shown: String?

    init(_ expected: String, shown: String? = nil) {
        (self.expected, self.shown) = (expected, shown)
    }
}

// MARK: Units

extension SettingKind
where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    static var choice: Self {
        let values = Array(Value.allCases)
        return SettingKind(words: values.map(\.rawValue)) { word in
            values.first { $0.rawValue == word }
        }
    }
}

extension SettingKind where Value == Bool {
    static var answer: Self { SettingKind(words: ["yes", "no"]) { $0 == "yes" } }
}

extension SettingKind where Value: FixedWidthInteger & Sendable {
    static func count(upTo most: Value = .max) -> Self {
        let expected = most == .max ? "a number above 0" : "a number from 1 to \(most)"
        return SettingKind("NUMBER", expected) { text in
            Value(text).flatMap { 1...most ~= $0 ? $0 : nil }
        }
    }
}

extension SettingKind where Value == Int64 {
    /// A number of bytes.
    static func size(from least: Int64 = 1) -> Self {
        SettingKind("SIZE", "a size like 600kB, 64MiB or 1.5GB") { text in
            ByteSize(text).flatMap { $0.count >= least ? $0.count : nil }
        }
    }

    /// A time in whole seconds, as HTTP counts (RFC 9111 §1.2.2).
    static var seconds: Self {
        SettingKind("TIME", "a time of whole seconds like 30s, 1h or 90d") { text in
            TimeSpan(text).flatMap { $0.milliseconds % 1000 == 0 ? $0.milliseconds / 1000 : nil }
        }
    }
}

extension SettingKind where Value == Duration {
    static func time(from least: Duration, to most: Duration? = nil) -> Self {
        let end = most.map { " to \(TimeSpan($0))" } ?? " on"
        @Sendable func read(_ text: String) -> Duration? {
            guard let time = TimeSpan(text)?.duration, least <= time, time <= most ?? time else {
                return nil
            }
            return time
        }
        let examples = ["500ms", "30s", "10min"].filter { read($0) != nil }.prefix(2)
        return SettingKind(
            "TIME",
            "a time from \(TimeSpan(least))\(end), such as \(examples.joined(separator: " or "))",
            meaning: read)
    }
}
