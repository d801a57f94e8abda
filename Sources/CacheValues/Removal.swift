/// The number of entries removed, and their bytes.
public struct Removal: Hashable, Sendable {
    /// Entries removed. Downloads that were stopped are not counted.
    public var entries = 0
    /// Bytes that the disk held for them.
    public var bytes: Int64 = 0

    public init(entries: Int = 0, bytes: Int64 = 0) {
        (self.entries, self.bytes) = (entries, bytes)
    }

    public static let nothing = Removal()

    public static func + (left: Removal, right: Removal) -> Removal {
        Removal(entries: left.entries + right.entries, bytes: left.bytes + right.bytes)
    }

    public static func += (sum: inout Removal, more: Removal) { sum = sum + more }
}
