package import CacheDisk
package import CacheKey
package import CacheValues

/// The result of publishing a staged image.
package struct Publication: Sendable {
    package let flight: FlightID
    package let key: CacheKey
    /// Whether the failure has nothing to do with the image itself: an operation that covered
    /// several images failed, or another program removed its file.
    package var isLostByOthers = false
    package private(set) var result: Result<EntryFacts, Failure>
    /// The beginning of the probe that gave the facts. `nil` if they are those of the file when it was published.
    package private(set) var probeStart: ChangeEpochs.Start?
    /// The time since the last byte of the image arrived. `nil` if it is not known.
    package let time: Duration?

    package init(
        flight: FlightID, key: CacheKey, isLostByOthers: Bool = false,
        result: Result<EntryFacts, Failure>, time: Duration? = nil
    ) {
        (self.flight, self.key) = (flight, key)
        (self.isLostByOthers, self.result, self.time) = (isLostByOthers, result, time)
    }

    /// The name was probed after the publication. A file that is no entry changes nothing here; its name has to be
    /// probed again.
    package mutating func probed(_ probe: EntryProbe, since start: ChangeEpochs.Start) {
        guard case .success(let published) = result, case .entry(var facts) = probe else { return }
        // Its last use is the publication, even if the probe read another time.
        facts.lastUsedAt = published.lastUsedAt
        (result, probeStart) = (.success(facts), start)
    }
}
