/// The bytes that a walker asked for, with their offset in the file.
///
/// Reading past the end traps, because a walker knows how many bytes it asked for. Use ``ByteReader`` for
/// lists whose length comes from the file.
struct ByteField: Sendable {
    let bytes: [UInt8]
    /// Offset of the first byte in the file.
    let offset: UInt64

    /// Offset of the byte after the last one.
    var end: UInt64 { offset + UInt64(bytes.count) }

    /// The unsigned integer at `index`, most significant byte first.
    func big<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type, at index: Int) -> T {
        bytes[index..<index + T.bitWidth / 8].reduce(0) { $0 << 8 | T($1) }
    }

    /// The unsigned integer at `index`, least significant byte first.
    func little<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type, at index: Int) -> T {
        big(type, at: index).byteSwapped
    }

    /// Whether the field has these bytes at `index`. `false` if it is too short for them.
    func holds(_ expected: [UInt8], at index: Int = 0) -> Bool {
        bytes.dropFirst(index).starts(with: expected)
    }

    /// Whether the field has this text at `index`. `false` if it is too short for it.
    func holds(_ text: String, at index: Int = 0) -> Bool {
        bytes.dropFirst(index).starts(with: text.utf8)
    }
}
