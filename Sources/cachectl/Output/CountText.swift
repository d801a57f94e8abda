/// Formats numbers and shares for people.
enum CountText {
    /// The number with commas: `12,345`.
    static func describe(_ number: Int) -> String {
        var text = "\(number.magnitude)"
        var position = text.endIndex
        while text.distance(from: text.startIndex, to: position) > 3 {
            position = text.index(position, offsetBy: -3)
            text.insert(",", at: position)
        }
        return number < 0 ? "-" + text : text
    }

    /// The number with its noun: `1 image`, `2 images`.
    static func describe(_ number: Int, _ noun: String) -> String {
        "\(describe(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// The share as a percentage with one digit: `97.3 %`; `-` of nothing. Only all is 100.0 %, and only nothing 0.0 %.
    static func share(_ part: Int, of whole: Int) -> String {
        guard whole > 0 else { return "-" }
        let exact = (Double(part) / Double(whole) * 1000).rounded()
        let least = part > 0 ? 1.0 : 0
        let most = part < whole ? 999.0 : max(exact, 1000)
        let tenths = Int(max(least, min(exact, most, 9_999_999)))
        return "\(tenths / 10).\(tenths % 10) %"
    }
}
