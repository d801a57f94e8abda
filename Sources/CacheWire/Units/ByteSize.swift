/// A number of bytes in the notation of options and settings: `2MB` is 2 × 10⁶ bytes, `1.5MiB` and `1.5M`
/// are 1.5 × 2²⁰, and a number without a unit counts bytes.
///
///     ByteSize("2MiB")?.count  // 2097152
///
/// On the wire sizes are plain numbers.
public struct ByteSize: LosslessStringConvertible, Sendable, Hashable {
    /// In bytes, 0 or more.
    public let count: Int64

    private static let table = UnitTable(
        units: [
            ("B", 1), ("kB", 1000), ("MB", 1_000_000), ("GB", 1_000_000_000),
            ("TB", 1_000_000_000_000), ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30),
            ("T", 1 << 40), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40),
        ], bare: 1)

    /// `nil` unless the text is a number with a unit of ``UnitTable`` or without one.
    public init?(_ description: String) {
        guard let count = Self.table.number(in: description) else { return nil }
        self.count = count
    }

    public var description: String { "\(count)B" }
}
