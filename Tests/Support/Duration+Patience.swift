extension Duration {
    /// How long a test waits for an event that should come at once. The limit is generous, because only a
    /// failing test waits that long.
    public static let patience = Duration.seconds(120)

    /// Whole milliseconds, rounded up, as poll(2) expects them.
    var milliseconds: Int32 {
        let (seconds, attoseconds) = components
        let total = seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(total, 0))
    }
}
