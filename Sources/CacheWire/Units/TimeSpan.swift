/// A length of time as people write it: `500ms`, `30s`, `5min` or `5m`, `1.5h`, `90d`. A number without a unit counts
/// seconds.
public struct TimeSpan: LosslessStringConvertible, Sendable, Hashable {
    /// 0 or more.
    public let milliseconds: Int64

    private static let table = UnitTable(
        units: [
            ("ms", 1), ("s", 1000), ("min", 60_000), ("m", 60_000), ("h", 3_600_000),
            ("d", 86_400_000),
        ], bare: 1000)

    /// `nil` unless the text is a number with a unit of ``UnitTable`` or without one.
    public init?(_ description: String) {
        guard let milliseconds = Self.table.number(in: description) else { return nil }
        self.milliseconds = milliseconds
    }

    public init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
    }

    public var duration: Duration { .milliseconds(milliseconds) }

    /// Rounded up.
    public var seconds: Int { Int(milliseconds / 1000 + (milliseconds % 1000 > 0 ? 1 : 0)) }

    /// The time in the longest unit of which it is a multiple.
    public var description: String {
        let unit = Self.table.units.filter { milliseconds % $0.multiple == 0 }
            .max { $0.multiple < $1.multiple }
        return unit.map { "\(milliseconds / $0.multiple)\($0.name)" } ?? "\(milliseconds)ms"
    }
}
