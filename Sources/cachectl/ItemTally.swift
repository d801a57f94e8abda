import CacheWire

/// Counts the states of a command's items and derives the exit status.
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

    /// The exit status of `status`. An invalid URL outranks a missing image, which outranks a
    /// download in flight.
    var status: ExitStatus {
        if invalid > 0 { return .invalidURL }
        if missing > 0 { return .incomplete }
        return inFlight > 0 ? .inFlight : .success
    }
}
