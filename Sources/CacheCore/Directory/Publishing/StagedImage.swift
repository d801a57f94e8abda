internal import CacheKey

/// A whole, checked image that waits to be published. A class, because many hands pass it on.
final class StagedImage: Sendable {
    let flight: FlightID
    let key: CacheKey
    let body: StagedBody
    let url: CacheURL
    /// Becomes the record of the entry. Its size is the number of bytes.
    let record: EntryRecord
    let times: TransferTimes

    init(
        flight: FlightID, key: CacheKey, body: StagedBody, url: CacheURL, record: EntryRecord,
        times: TransferTimes = TransferTimes()
    ) {
        (self.flight, self.key, self.body) = (flight, key, body)
        (self.url, self.record, self.times) = (url, record, times)
    }
}
