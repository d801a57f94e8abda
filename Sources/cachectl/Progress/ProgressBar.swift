/// A bar: a share of it is done, or nobody knows and a block moves to and fro.
struct ProgressBar {
    let style: ProgressStyle
    /// Columns.
    let width: Int

    /// A bar of which `fraction` (0 to 1) is done.
    func determinate(_ fraction: Double) -> String {
        let done = Int((Double(width) * max(0, min(1, fraction))).rounded(.down))
        return style.done(repeated(style.filled, done)) + repeated(style.empty, width - done)
    }

    /// A bar with a block that has moved for `now`, one column each tenth of a second.
    func indeterminate(now: Duration) -> String {
        let block = max(1, width / 4)
        let travel = max(1, width - block)
        let step = Int(now / .milliseconds(100)) % (2 * travel)
        let position = step <= travel ? step : 2 * travel - step
        return repeated(style.empty, position) + style.done(repeated(style.filled, block))
            + repeated(style.empty, width - block - position)
    }

    private func repeated(_ text: String, _ count: Int) -> String {
        String(repeating: text, count: max(0, count))
    }
}
