/// Arithmetic on numbers from a daemon. Those of a wrong or hostile one can be anything.
extension Int {
    /// The number without its fraction, or the nearest `Int`. 0 if it is not a number.
    init(saturating value: Double) {
        self =
            Int(exactly: value.rounded(.towardZero)) ?? (value.isNaN ? 0 : value < 0 ? .min : .max)
    }

    /// The sum, or the nearest `Int`.
    func saturatingAdding(_ other: Int) -> Int {
        let (sum, isTooFar) = addingReportingOverflow(other)
        return isTooFar ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, or the nearest `Int`.
    func saturatingSubtracting(_ other: Int) -> Int {
        let (difference, isTooFar) = subtractingReportingOverflow(other)
        return isTooFar ? (other > 0 ? .min : .max) : difference
    }
}
