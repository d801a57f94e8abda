/// The way in which a viewer turns the stored pixels of an image, by the numbers of Exif: 1 to 8.
///
/// CIPA DC-008 (Exif), `Orientation`. The other formats have turns of their own, with the same eight results.
public struct Orientation: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    /// The pixels are shown as they are stored.
    package static let upright = Orientation(unchecked: 1)

    /// `nil` unless the number is 1 to 8.
    public init?(rawValue: UInt8) {
        guard 1...8 ~= rawValue else { return nil }
        self.rawValue = rawValue
    }

    private init(unchecked number: UInt8) {
        rawValue = number
    }

    /// The lowest three bits of a number, plus 1.
    package init(minusOne number: UInt64) {
        self.init(unchecked: UInt8(number & 7) + 1)
    }

    /// A rotation to the left, and then a mirror image: ISO/IEC 23008-12 §6.5.10 `irot`, §6.5.12 `imir`.
    ///
    /// - Parameters:
    ///   - quarters: turns of 90 degrees. Only the lowest two bits count.
    ///   - mirror: 0 exchanges top and bottom, 1 left and right. Only the lowest bit counts.
    init(quarters: UInt8?, mirror: UInt8?) {
        let numbers: [[UInt8]] = [[1, 4, 2], [8, 5, 7], [3, 2, 4], [6, 7, 5]]
        self.init(
            unchecked: numbers[Int(quarters ?? 0) & 3][mirror.map { Int($0 & 1) + 1 } ?? 0])
    }

    /// Whether the width as shown is the height as stored.
    var swapsSides: Bool { rawValue > 4 }
}
