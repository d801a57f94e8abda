/// A length of time as people write it: `500ms`, `30s`, `5min`, `1h`, `90d`. The unit is required.
public struct TimeSpan: LosslessStringConvertible, Sendable, Hashable {
    /// Not negative, in whole milliseconds.
    public let duration: Duration

    // The longer suffix comes first, because `ms` ends in `s`.
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("min", 60_000), ("s", 1000), ("h", 3_600_000),
        ("d", 86_400_000),
    ]

    /// `nil` unless the text is digits and a unit, and the milliseconds fit into 63 bits.
    public init?(_ description: String) {
        guard let unit = Self.units.first(where: { description.hasSuffix($0.suffix) }) else {
            return nil
        }
        let digits = description.dropLast(unit.suffix.count)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int64(digits)
        else { return nil }
        let (milliseconds, overflows) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflows else { return nil }
        duration = .milliseconds(milliseconds)
    }

    public init(_ duration: Duration) { self.duration = duration }

    /// The time in the longest unit of which it is a multiple.
    public var description: String {
        let (seconds, attoseconds) = duration.components
        let total = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        let unit = Self.units.filter { total % $0.milliseconds == 0 }
            .max { $0.milliseconds < $1.milliseconds }
        return unit.map { "\(total / $0.milliseconds)\($0.suffix)" } ?? "\(total)ms"
    }
}
