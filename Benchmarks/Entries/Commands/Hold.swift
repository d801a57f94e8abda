import ArgumentParser
import CacheCore
import Glibc

/// `hold`: keeps synthetic entries, for its memory to be looked at from outside.
struct Hold: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Fill a cache with synthetic entries; use them all; take the uses.",
        discussion: "Says `filled`, `used` and `flushed`, and goes on with each line of input.")

    @Argument(help: "How many entries.")
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

    /// Prints a line and waits for one.
    private func say(_ text: String) {
        print(text)
        fflush(nil)
        _ = readLine()
    }
}
