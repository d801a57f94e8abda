import CacheFetching

/// How urgent an image is to a call, and how long the call waits for it.
struct WaitTerms: Hashable, Sendable {
    let priority: Priority
    /// The failed attempts after which the call takes the failure. `nil` if the daemon's own attempts count.
    var attempts: Int?
    var deadline: ContinuousClock.Instant?

    /// Whether the other terms count if both are for one image.
    func yields(to other: WaitTerms) -> Bool { priority < other.priority }
}
