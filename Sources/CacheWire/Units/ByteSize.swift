/// A number of bytes in the notation of options and settings: `2MB` is 2 × 10⁶ bytes, `2MiB` and `2M`
/// are 2 × 2²⁰, and a number without a unit counts bytes.
///
///     ByteSize("2MiB")?.count  // 2097152
///
/// On the wire sizes are plain numbers.
public struct ByteSize: LosslessStringConvertible, Sendable, Hashable {
    /// In bytes, 0 or more.
    public let count: Int64

    private static let units: [(suffix: String, bytes: Int64)] = [
        ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
        ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000), ("TB", 1_000_000_000_000),
        ("B", 1),
        ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("T", 1 << 40),
    ]

    /// Parses digits and an optional unit. The result is `nil` for any other text, and for sizes
    /// that do not fit into 63 bits.
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
