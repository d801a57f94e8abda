/// A number of bytes as people write it: `2MB` is 10⁶ of them, `2MiB` 2²⁰, a bare number just bytes.
///
/// It is how the options and settings of both programs take sizes; on the wire they are numbers.
public struct ByteSize: LosslessStringConvertible, Sendable, Hashable {
    /// In bytes, 0 or more.
    public let count: Int64

    private static let units: [(suffix: String, bytes: Int64)] = [
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
        ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
        ("B", 1),
    ]

    /// `nil` for anything but digits and a unit, and for what does not fit 63 bits.
    public init?(_ description: String) {
        let unit = Self.units.first { description.hasSuffix($0.suffix) }
        let digits = description.dropLast(unit?.suffix.count ?? 0)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int64(digits)
        else { return nil }
        let (bytes, overflows) = number.multipliedReportingOverflow(by: unit?.bytes ?? 1)
        guard !overflows else { return nil }
        count = bytes
    }

    public var description: String { "\(count)B" }
}
