/// Reads a number with a unit, such as `1.5GB` or `10min`: digits, perhaps with a decimal fraction, and a unit in small or
/// capital letters. All options and settings that are a size or a time are read here, so each takes the same texts.
struct UnitTable: Sendable {
    /// The units, with their multiples of the smallest one.
    let units: [(name: String, multiple: Int64)]
    /// The multiple of a number without a unit.
    let bare: Int64

    private static let digits = "0"..."9"

    /// The number in the smallest unit, a fraction of which is cut off. `nil` for any other text, and for a number that
    /// does not fit into 63 bits.
    func number(in text: String) -> Int64? {
        let number = text.prefix { Self.digits ~= String($0) || $0 == "." }
        let name = text[number.endIndex...].lowercased()
        let multiple = name.isEmpty ? bare : units.first { $0.name.lowercased() == name }?.multiple
        let parts = number.split(separator: ".", omittingEmptySubsequences: false)
        guard let multiple, parts.count <= 2, parts.allSatisfy({ !$0.isEmpty }),
            let whole = parts.first.flatMap({ Int64($0) })
        else { return nil }
        // Six digits of a fraction of the largest unit fit into 63 bits.
        let fraction = parts.dropFirst().first?.prefix(6) ?? "0"
        let scale = repeatElement(Int64(10), count: fraction.count).reduce(1, *)
        let (product, overflows) = whole.multipliedReportingOverflow(by: multiple)
        let (sum, overflowsToo) = product.addingReportingOverflow(
            (Int64(fraction) ?? 0) * multiple / scale)
        return overflows || overflowsToo ? nil : sum
    }
}
