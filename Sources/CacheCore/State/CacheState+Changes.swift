internal import CacheKey

/// What observers are told, and when it is news.
extension CacheState {
    /// Notes that what is said of a key has changed.
    mutating func changed(_ key: CacheKey) -> [Effect] {
        changes.note(key) ? [.announceChanges] : []
    }

    /// What an observer knows of an entry; `nil` where there is none, or nobody observes.
    func observed(_ key: CacheKey) -> EntryFacts? {
        changes.isObserved ? index.facts(of: key) : nil
    }

    /// What lies under a name was seen, and was this before.
    mutating func seen(_ key: CacheKey, _ facts: EntryFacts, before: EntryFacts?) -> [Effect] {
        before?.saysTheSame(as: facts) == true ? [] : changed(key)
    }

    /// Whether a download has come far enough since it was last announced: by 1 % of the whole, or of what
    /// is there while nobody knows how much that is.
    func isProgress(_ flight: Flight, received: Int64, of total: Int64?) -> Bool {
        (received - flight.announced) * 100 >= (total ?? received)
    }
}

extension EntryFacts {
    /// Whether an observer would hear the same of both: not of uses, nor of the disk.
    fileprivate func saysTheSame(as other: EntryFacts) -> Bool {
        var same = other
        (same.allocated, same.lastUsedAt, same.removeAt) = (allocated, lastUsedAt, removeAt)
        return self == same
    }
}
