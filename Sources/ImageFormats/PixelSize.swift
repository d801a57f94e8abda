/// Width and height in pixels, neither of them zero.
struct PixelSize: Sendable, Equatable {
    let width: Int
    let height: Int

    /// `nil` if a side is zero or no `Int`: the file does not say.
    init?(_ width: some BinaryInteger, _ height: some BinaryInteger) {
        guard let width = Int(exactly: width), let height = Int(exactly: height),
            width > 0, height > 0
        else { return nil }
        self.width = width
        self.height = height
    }

    /// For comparing sizes; never overflows.
    var area: UInt64 { UInt64(width).timesClamped(UInt64(height)) }
}
