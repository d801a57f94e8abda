import HTTPCaching

/// The entry that the cache has already while it downloads a URL again.
enum KnownEntry {
    /// There is no entry.
    case none
    /// The request asks whether this entry is still valid.
    case conditional(EntryRecord)
    /// There is this entry, but the request does not ask about it: it asks for the rest of a newer image, or an
    /// earlier 304 was about another image.
    case unconditional(EntryRecord)

    var record: EntryRecord? {
        switch self {
        case .none: nil
        case .conditional(let record), .unconditional(let record): record
        }
    }

    /// The same entry for a request that does not ask about it.
    var withoutCondition: KnownEntry { record.map { .unconditional($0) } ?? .none }
}
