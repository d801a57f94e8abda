package import CacheKey

/// The result of publishing a staged image.
package struct Publication: Sendable {
    package let flight: FlightID
    package let key: CacheKey
    /// Whether the failure has nothing to do with the image itself: an operation that covered
    /// several images failed, or another program removed its file.
    package var isLostByOthers = false
    package let result: Result<EntryFacts, Failure>

    package init(
        flight: FlightID, key: CacheKey, isLostByOthers: Bool = false,
        result: Result<EntryFacts, Failure>
    ) {
        (self.flight, self.key) = (flight, key)
        (self.isLostByOthers, self.result) = (isLostByOthers, result)
    }
}
