import CacheFetching
internal import CacheKey

/// An image to be derived from an entry.
struct Derivation: Sendable {
    let flight: FlightID
    let key: CacheKey
    let image: DerivedImage
    /// The entry that it is derived from: its original, or a larger image that was derived from that.
    let source: CacheKey
}
