/// The property `clap`, which shows a part of an image: ISO/IEC 14496-12 §12.1.4.
struct HEIFCrop: Sendable {
    /// A number of pixels, as a fraction whose denominator is greater than zero.
    private struct Fraction {
        let numerator, denominator: Int

        /// `nil` if it is not a whole number.
        var whole: Int? { numerator % denominator == 0 ? numerator / denominator : nil }
    }

    private let width, height, right, down: Fraction

    /// - Parameter field: the payload of the box: width and height of the part, and how far its centre is to the right
    ///   of the image's centre and below it.
    init?(_ field: ByteField) {
        guard field.bytes.count >= 32 else { return nil }
        func fraction(_ index: Int) -> Fraction? {
            let parts = [0, 4].map {
                Int(Int32(bitPattern: field.big(UInt32.self, at: index * 8 + $0)))
            }
            return parts[1] > 0 ? Fraction(numerator: parts[0], denominator: parts[1]) : nil
        }
        guard let width = fraction(0), let height = fraction(1), let right = fraction(2),
            let down = fraction(3)
        else { return nil }
        (self.width, self.height, self.right, self.down) = (width, height, right, down)
    }

    /// The size of the part. The whole size if the part is not inside the image.
    ///
    /// - Parameter fromCorner: whether a part that does not start at the upper left corner counts as the whole.
    ///   Chromium shows such an AVIF whole.
    func size(of whole: PixelSize, fromCorner: Bool) -> PixelSize {
        guard let part = PixelSize(width.whole ?? 0, height.whole ?? 0),
            Self.fits(part.width, in: whole.width, right, fromCorner),
            Self.fits(part.height, in: whole.height, down, fromCorner)
        else { return whole }
        return part
    }

    /// Whether a part of one side starts at 0 or behind it, and ends inside the side.
    private static func fits(
        _ part: Int, in whole: Int, _ shift: Fraction, _ fromCorner: Bool
    ) -> Bool {
        guard 0...Int(Int32.max) ~= whole - part else { return false }
        let left = (whole - part) * shift.denominator
        // Twice the denominator times the start of the part.
        let start = left + 2 * shift.numerator
        return fromCorner ? start == 0 : 0...(2 * left) ~= start
    }
}
