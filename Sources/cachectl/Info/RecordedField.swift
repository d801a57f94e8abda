import CacheValues
import CacheWire

/// A field of a record: its name, and its value in JSON and as text.
struct RecordedField {
    let name: String
    let value: JSONValue
    let text: String

    /// `nil` if there is no value.
    init?(_ name: String, _ value: String?) {
        guard let value else { return nil }
        (self.name, self.value, text) = (name, .string(value), value.printable)
    }

    init?(_ name: String, _ value: (some BinaryInteger)?) {
        guard let value else { return nil }
        (self.name, self.value, text) = (name, .int(Int(clamping: value)), "\(value)")
    }

    init?(_ name: String, _ value: UnixTime?) {
        guard let value else { return nil }
        let second = Int(value.rawValue)
        (self.name, self.value) = (name, .int(second))
        text = TimeText.describe(unixSecond: second)
    }

    init(_ name: String, _ value: Bool) {
        (self.name, self.value, text) = (name, .bool(value), value ? "yes" : "no")
    }
}
