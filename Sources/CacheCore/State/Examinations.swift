internal import CacheKey

/// Which names changed while some were being looked at outside the lock.
///
/// A result is only as good as the moment it was taken in. The race it prevents:
///
///     scan:    examines K: a whole file
///     anyone:  removes K; its file is unlinked
///     scan:    reports K as an entry        → a ghost, if it were believed
struct Examinations {
    private var open = 0
    private var changed: Set<CacheKey> = []

    /// Somebody begins to look at names.
    mutating func begin() {
        open += 1
    }

    /// Something happened to a name.
    mutating func note(_ key: CacheKey) {
        if open > 0 { changed.insert(key) }
    }

    /// Whether what was seen of a name may be believed.
    func isCurrent(_ key: CacheKey) -> Bool {
        !changed.contains(key)
    }

    /// The looking is over, its results taken in.
    mutating func end() {
        open -= 1
        precondition(open >= 0, "an examination ended that never began")
        if open == 0 { changed.removeAll() }
    }
}
