internal import CacheKey

/// A 304 to a conditional request for an entry (RFC 9110 §15.4.5).
struct Revalidation: Sendable {
    let flight: FlightID
    let key: CacheKey
    /// The entry the request was about. Only that one is confirmed.
    let asked: EntryRecord
    /// The record it gets.
    let record: EntryRecord
}
