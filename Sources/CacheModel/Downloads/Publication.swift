package import CacheKey

/// What became of a staged image.
package struct Publication: Sendable {
    package let flight: FlightID
    package let key: CacheKey
    /// Nothing is wrong with the image itself: what it shared with others failed, or somebody else took its
    /// file away.
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
