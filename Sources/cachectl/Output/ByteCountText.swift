/// Formats sizes for people: `22 kB`, `1.4 MB`. The units are powers of ten, as everywhere in this
/// program.
enum ByteCountText {
    private static let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]

    /// The size with two or three significant digits and its unit.
    static func describe(_ bytes: Int) -> String {
        guard bytes >= 1000 else { return "\(bytes) B" }
        var value = Double(bytes)
        var unit = 0
        // 999.5 would round to four digits.
        while value >= 999.5, unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        guard value < 9.95 else { return "\(Int(value.rounded())) \(units[unit])" }
        let tenths = Int((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }
}
