import CacheWire

/// Which states were among the items of a command, and what to exit with for it.
struct ItemTally {
    private(set) var invalid = 0
    private(set) var missing = 0
    private(set) var inFlight = 0

    mutating func count(_ item: Item) {
        if item.hasInvalidURL { invalid += 1 }
        switch item.state {
        case .missing: missing += 1
        case .inFlight: inFlight += 1
        case .cached: break
        }
    }

    /// The status of `status`: an invalid URL outweighs a missing one, that one in flight.
    var status: ExitStatus {
        if invalid > 0 { return .invalidURL }
        if missing > 0 { return .incomplete }
        return inFlight > 0 ? .inFlight : .success
    }
}
