/// When the last attempt at a download reached each of its steps.
struct TransferTimes: Sendable {
    /// The first request was made.
    var began = ContinuousClock.now
    /// The first response began.
    var answered: ContinuousClock.Instant?
    /// The whole image had arrived and was checked.
    var staged: ContinuousClock.Instant?
}
