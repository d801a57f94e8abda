/// Width and height in pixels, both greater than zero.
struct PixelSize: Sendable, Equatable {
    let width: Int
    let height: Int

    /// `nil` if a side is zero, which files use for "unknown", or does not fit into an `Int`.
    init?(_ width: some BinaryInteger, _ height: some BinaryInteger) {
        guard let width = Int(exactly: width), let height = Int(exactly: height),
            width > 0, height > 0
        else { return nil }
        self.width = width
        self.height = height
    }

    /// Used to compare sizes. Clamped, so that it never overflows.
    var area: UInt64 { UInt64(width).timesClamped(UInt64(height)) }
}
