internal import CacheKey
import HTTPCaching

/// What an origin has confirmed about an entry, and the file does not say yet.
struct UnwrittenConfirmation: Sendable {
    /// The record that is in the file.
    var asked: EntryRecord
    let record: EntryRecord
    /// The URL that the origin was asked by.
    let url: CacheURL

    /// The record that a file with this one gets; `nil` if the file has another response now.
    func record(over stored: EntryRecord) -> EntryRecord? {
        guard stored.isSameResponse(as: asked) else { return nil }
        var new = record
        (new.isPinned, new.awaitsAttributes) = (stored.isPinned, stored.awaitsAttributes)
        return new
    }
}
