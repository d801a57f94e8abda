/// Asks the daemon for its figures once a second, and notices that it does not answer. Pure.
struct Heartbeat: Hashable {
    /// The interval between two questions.
    static let interval = Duration.seconds(1)
    /// A daemon answers within milliseconds. After this time it counts as hung.
    private static let patience = Duration.milliseconds(900)

    /// When to ask next.
    private var next = Duration.zero
    /// The oldest question without an answer.
    private var askedAt: Duration?

    /// Whether the daemon leaves a question unanswered.
    private(set) var isSilent = false

    /// When ``advanced(to:)`` has something to do.
    var deadline: Duration {
        guard let askedAt, !isSilent else { return next }
        return min(next, askedAt + Self.patience)
    }

    /// Returns whether to ask now.
    mutating func advanced(to now: Duration) -> Bool {
        if let askedAt, now >= askedAt + Self.patience { isSilent = true }
        guard now >= next else { return false }
        next = now + Self.interval
        guard askedAt == nil else { return false }
        askedAt = now
        return true
    }

    mutating func answered() {
        askedAt = nil
        isSilent = false
    }
}
