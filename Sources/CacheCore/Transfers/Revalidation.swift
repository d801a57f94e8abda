import CacheFetching
internal import CacheKey
import HTTPCaching

/// A 304 to a conditional request for an entry (RFC 9110 §15.4.5).
struct Revalidation: Sendable {
    let flight: FlightID
    let key: CacheKey
    /// The URL that the origin was asked by, or would have been.
    let url: CacheURL
    /// The record of the entry that the request was about. If the entry has changed since, it is not confirmed.
    let asked: EntryRecord
    /// The new record of the entry.
    let record: EntryRecord
    /// The time from the question to the head of the answer, if the store answered rather than the origin.
    var storeTime: Duration?
}
