internal import CacheKey

/// A whole, checked image that waits to be published.
struct StagedImage: Sendable {
    let flight: FlightID
    let file: StagingFile
    let url: CacheURL
    let digest: ContentDigest
    /// Becomes the entry's record; its size is the number of bytes written.
    var record: EntryRecord

    var key: CacheKey { file.key }
}

/// What became of a staged image.
struct Publication: Sendable {
    let flight: FlightID
    let key: CacheKey
    /// Nothing is wrong with the image itself: what it shared with others failed.
    var isLostByOthers = false
    let result: Result<EntryFacts, Failure>
}
