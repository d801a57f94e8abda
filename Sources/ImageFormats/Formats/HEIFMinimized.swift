/// Reads the start of the box `mini`, which has a whole image in few bytes: ISO/IEC 23008-12 annex O.
enum HEIFMinimized {
    /// Bytes up to the end of the longest size.
    static let headLength = 6

    /// How the image is turned: the last bits before the size.
    static func orientation(_ field: ByteField) -> Orientation {
        Orientation(minusOne: UInt64(field.bytes[1]))
    }

    /// The dimensions. `nil` if the box has another version.
    ///
    /// - Parameter field: the first ``headLength`` bytes of the payload: two bytes of flags that start with the
    ///   version, a bit that selects the width of the sizes, and both sizes minus 1.
    static func size(_ field: ByteField) -> PixelSize? {
        guard field.bytes[0] >> 6 == 0 else { return nil }
        let isLarge = field.bytes[2] & 0x80 != 0
        return isLarge
            ? PixelSize(
                field.big(UInt16.self, at: 2) & 0x7FFF + 1, field.big(UInt16.self, at: 4) >> 1 + 1)
            : PixelSize(field.bytes[2] + 1, field.bytes[3] >> 1 + 1)
    }
}
