/// A share of a whole as people write it: `75%`.
struct Percentage: LosslessStringConvertible, Sendable, Hashable {
    /// Whole hundredths, 0 to 100.
    let hundredths: Int

    /// The same as a factor, 0 to 1.
    var share: Double { Double(hundredths) / 100 }

    /// `nil` for anything but digits and a percent sign, and for more than the whole.
    init?(_ description: String) {
        let digits = description.dropLast()
        guard description.hasSuffix("%"), !digits.isEmpty,
            digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int(digits), number <= 100
        else { return nil }
        hundredths = number
    }

    var description: String { "\(hundredths)%" }
}
