internal import CacheKey

/// How a download ended.
enum TransferEnd: Sendable {
    /// All bytes are in the partial, and checked.
    case staged(StagedImage)
    /// The origin says that the entry is still what it has.
    case confirmed(Revalidation)
    case failed(FailedTransfer)
}

/// A 304 to a question about an entry (RFC 9110 §15.4.5).
struct Revalidation: Sendable {
    let flight: FlightID
    let key: CacheKey
    /// The entry that was asked about. Only that one is confirmed.
    let asked: EntryRecord
    /// What its record has to say from now on.
    let record: EntryRecord
}

/// What became of a confirmation on the disk.
enum RevalidationEnd: Sendable {
    /// The record is rewritten.
    case stored(EntryFacts)
    /// The record could not be rewritten. The bytes are right all the same.
    case unstored
    /// Another file lies under the name now, or none.
    case gone
}

/// A download that failed, with what decides what comes next.
struct FailedTransfer: Sendable {
    var failure: Failure
    /// Seconds after which the response itself wants to be asked for again; see
    /// ``CachingRules/statement(on:by:_:)``.
    var said: Int64?
    /// The failure is what the origin answered, and not a proxy on the way to it.
    var isOrigins = true
    /// The machine has no network: nobody's fault.
    var isOffline = false
    /// The entry that is there may be the answer in spite of it.
    var letsStaleServe = false
}
