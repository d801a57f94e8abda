package import CacheKey

/// The result of publishing a staged image.
package struct Publication: Sendable {
    package let flight: FlightID
    package let key: CacheKey
    /// Whether the failure has nothing to do with the image itself: an operation that covered
    /// several images failed, or another program removed its file.
    package var isLostByOthers = false
    package let result: Result<EntryFacts, Failure>
    /// The time since the last byte of the image arrived. `nil` if it is not known.
    package let time: Duration?

    package init(
        flight: FlightID, key: CacheKey, isLostByOthers: Bool = false,
        result: Result<EntryFacts, Failure>, time: Duration? = nil
    ) {
        (self.flight, self.key) = (flight, key)
        (self.isLostByOthers, self.result, self.time) = (isLostByOthers, result, time)
    }
}
