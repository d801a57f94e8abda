/// A share as people write it: `75%`.
struct Percentage: LosslessStringConvertible, Sendable, Hashable {
    /// 0 to 100.
    let percent: Int

    /// 0 to 1.
    var share: Double { Double(percent) / 100 }

    /// `nil` unless the text is a number from 0 to 100 and a percent sign.
    init?(_ description: String) {
        let digits = description.dropLast()
        guard description.hasSuffix("%"), !digits.isEmpty,
            digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
            let number = Int(digits), number <= 100
        else { return nil }
        percent = number
    }

    var description: String { "\(percent)%" }
}
