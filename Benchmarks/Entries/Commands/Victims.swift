import ArgumentParser

/// `victims`: the cost of choosing entries to evict.
struct Victims: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Choose all unpinned entries as victims; print the time for each.",
        discussion: "A tenth of the entries is pinned. The order of use is random.")

    @Argument(help: "The number of entries.")
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
