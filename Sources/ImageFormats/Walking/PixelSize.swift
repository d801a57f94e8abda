/// Width and height in pixels, both greater than zero.
package struct PixelSize: Sendable, Equatable {
    package let width: Int
    package let height: Int

    /// `nil` if a side is zero, which files use for "unknown", or does not fit into an `Int`.
    init?(_ width: some BinaryInteger, _ height: some BinaryInteger) {
        guard let width = Int(exactly: width), let height = Int(exactly: height),
            width > 0, height > 0
        else { return nil }
        self.init(width: width, height: height)
    }

    private init(width: Int, height: Int) {
        (self.width, self.height) = (width, height)
    }

    /// The size of the image as a viewer shows it.
    func turned(by orientation: Orientation) -> PixelSize {
        orientation.swapsSides ? PixelSize(width: height, height: width) : self
    }

    /// Used to compare sizes. Clamped, so that it never overflows.
    package var area: UInt64 { UInt64(width).timesClamped(UInt64(height)) }
}
