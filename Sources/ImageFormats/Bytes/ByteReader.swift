/// Reads big-endian integers from a field, one after the other. Returns `nil` past the end of the field.
struct ByteReader {
    private var rest: ArraySlice<UInt8>

    init(_ field: ByteField) {
        rest = field.bytes[...]
    }

    /// The next integer of `width` bytes, 0 to 8. An integer of 0 bytes is 0.
    mutating func big(_ width: Int) -> UInt64? {
        guard rest.count >= width else { return nil }
        defer { rest = rest.dropFirst(width) }
        return rest.prefix(width).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
