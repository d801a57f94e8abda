internal import CacheKey

/// Pins: what may not be evicted. Stored in the file's record; here is what the records say.
extension CacheState {
    /// A record was rewritten, or there is no file yet: what is on its way will be pinned when it lands.
    mutating func pinned(_ key: CacheKey, _ isPinned: Bool) -> [Effect] {
        epochs.note(key)
        let wasPinned = self.isPinned(key)
        flights[key]?.isPinned = isPinned
        let isKnown = index.setPinned(key, isPinned) || flights[key] != nil
        return (isKnown && isPinned != wasPinned ? changed(key) : []) + resumeNext()
    }

    /// Whether what is being published under a key has to be pinned: a pin outlives the bytes it was put
    /// on.
    func isPinned(_ key: CacheKey) -> Bool {
        flights[key]?.isPinned ?? index.facts(of: key)?.isPinned ?? false
    }
}
