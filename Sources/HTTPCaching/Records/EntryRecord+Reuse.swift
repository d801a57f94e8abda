package import CacheValues

extension EntryRecord {
    /// How a request for this entry is answered.
    package func reuse(at now: UnixTime) -> Reuse {
        guard removeAt == nil else { return .mustRevalidate }
        // On a file system without attributes, an entry is confirmed only if a caller asks for it.
        guard let freshUntil else { return .fresh }
        // The clock was ahead when the image was fetched, so the times of the record are not reliable.
        guard fetchedAt <= now else { return .mustRevalidate }
        if now < freshUntil { return .fresh }
        guard !terms.mustRevalidate, let window = terms.staleWhileRevalidate,
            now < freshUntil + window
        else { return .mustRevalidate }
        return .staleWhileRevalidating
    }

    /// Whether this entry can be used although the origin could not confirm it.
    package func allowsStaleIfError(at now: UnixTime, _ rules: CachingRules) -> Bool {
        guard removeAt == nil, !terms.mustRevalidate else { return false }
        guard let freshUntil else { return true }
        return now < freshUntil + (terms.staleIfError ?? rules.staleIfError)
    }
}
