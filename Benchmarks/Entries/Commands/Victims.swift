import ArgumentParser
import CacheCore

/// `victims`: what it costs to choose who has to go.
struct Victims: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Choose all unpinned entries as victims; print the time for each.",
        discussion: "A tenth is pinned, and the order of use has nothing to do with that in memory."
    )

    @Argument(help: "How many entries.")
    var count: Int

    func run() {
        var state = SyntheticState(count: count, pinningEvery: 10)
        state.useAllShuffled()
        let clock = ContinuousClock()
        var victims = 0
        let duration = clock.measure { victims = state.evictAll() }
        let nanoseconds = duration / .nanoseconds(1) / Double(victims)
        print("{\"victims\":\(victims),\"nanosecondsEach\":\(nanoseconds)}")
    }
}
