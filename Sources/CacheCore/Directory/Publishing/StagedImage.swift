internal import CacheKey
import CacheModel
import HTTPCaching

/// A whole, checked image that waits to be published. A class, because many hands pass it on.
final class StagedImage: Sendable {
    let flight: FlightID
    let key: CacheKey
    let body: StagedBody
    let url: CacheURL
    /// The URL that names the image.
    let namingURL: CacheURL
    /// Becomes the record of the entry. Its size is the number of bytes.
    let record: EntryRecord
    let times: TransferTimes

    init(
        flight: FlightID, key: CacheKey, body: StagedBody, url: CacheURL, record: EntryRecord,
        times: TransferTimes = TransferTimes(), namedBy namingURL: CacheURL? = nil
    ) {
        (self.flight, self.key, self.body) = (flight, key, body)
        (self.url, self.record, self.times) = (url, record, times)
        self.namingURL = namingURL ?? url
    }

    /// The same image under another name.
    func named(by other: CacheURL?) -> StagedImage {
        guard let other, other != namingURL else { return self }
        return StagedImage(
            flight: flight, key: key, body: body, url: url, record: record, times: times,
            namedBy: other)
    }
}
