extension EntryRecord {
    /// What to do with this entry when it is wanted.
    func reuse(at now: UnixTime) -> Reuse {
        guard removeAt == nil else { return .mustRevalidate }
        // Where the file system keeps no records, an entry is never asked about unless told to.
        guard let freshUntil else { return .fresh }
        // By a clock that was ahead nothing is told.
        guard fetchedAt <= now else { return .mustRevalidate }
        if now < freshUntil { return .fresh }
        guard !terms.mustRevalidate, let window = terms.staleWhileRevalidate,
            now < freshUntil + window
        else { return .mustRevalidate }
        return .staleWhileRevalidating
    }

    /// Whether this entry is the answer although the origin could not confirm it.
    func outlivesFailure(at now: UnixTime, _ rules: CachingRules) -> Bool {
        guard removeAt == nil, !terms.mustRevalidate else { return false }
        guard let freshUntil else { return true }
        return now < freshUntil + (terms.staleIfError ?? rules.staleIfError)
    }
}
