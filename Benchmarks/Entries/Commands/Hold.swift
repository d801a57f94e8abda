import ArgumentParser
import Glibc

/// `hold`: keeps synthetic entries in memory, so that its memory can be measured from outside.
struct Hold: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fill a cache with synthetic entries, use them all, then flush the uses.",
        discussion: "Prints `filled`, `used` and `flushed`; each waits for a line of input.")

    @Argument(help: "The number of entries.")
    var count: Int

    func run() {
        var state = SyntheticState(count: count)
        say("filled")
        state.useAll()
        say("used")
        state.flushAccessTimes()
        say("flushed")
        _ = consume state
    }

    /// Prints a line and waits for a line of input.
    private func say(_ text: String) {
        print(text)
        fflush(nil)
        _ = readLine()
    }
}
