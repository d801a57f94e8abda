/// Reads big-endian integers off a field, one after the other; `nil` past its end.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ field: ByteField) {
        rest = field.bytes[...]
    }

    /// The next integer of `width` bytes, 0 to 8. One of no bytes is 0.
    mutating func big(_ width: Int) -> UInt64? {
        guard rest.count >= width else { return nil }
        defer { rest = rest.dropFirst(width) }
        return rest.prefix(width).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
