import CacheWire

/// Derives the exit status of a command from its items.
struct ExitTally {
    private var hasInvalid = false
    private var hasFailed = false
    private var hasInFlight = false

    /// Counts an item by its state, as `status` does.
    mutating func count(_ item: Item) {
        count(item, isDone: item.state != .missing)
        if item.state == .inFlight { hasInFlight = true }
    }

    /// Counts an item of a command that succeeds or fails for each item.
    mutating func count(_ item: Item, isDone: Bool) {
        if item.hasInvalidURL { hasInvalid = true }
        if !isDone { hasFailed = true }
    }

    /// An invalid URL outranks a failure, which outranks a download in flight.
    var status: ExitStatus {
        if hasInvalid { return .invalidURL }
        if hasFailed { return .incomplete }
        return hasInFlight ? .inFlight : .success
    }
}
