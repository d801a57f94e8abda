package import CacheKey

/// Which names changed while some were being looked at outside the lock.
///
/// A result is only as good as the moment it was taken in. The race it prevents:
///
///     scan:    examines K: a whole file
///     anyone:  removes K; its file is unlinked
///     scan:    reports K as an entry        → a ghost, if it were believed
package struct ChangeEpochs {
    /// When somebody began to look.
    package struct Start: Sendable {
        fileprivate let moment: UInt64
    }

    private var open = 0
    /// Counts what happens.
    private var moment: UInt64 = 0
    /// When something happened last to a name, while anybody looks.
    private var changed: [CacheKey: UInt64] = [:]

    /// Somebody begins to look at names.
    package mutating func begin() -> Start {
        open += 1
        return Start(moment: moment)
    }

    /// Something happened to a name.
    package mutating func note(_ key: CacheKey) {
        moment += 1
        if open > 0 { changed[key] = moment }
    }

    /// Whether what was seen of a name since then may be believed.
    package func isCurrent(_ key: CacheKey, since start: Start) -> Bool {
        changed[key].map { $0 <= start.moment } ?? true
    }

    /// The looking is over, its results taken in.
    package mutating func end() {
        open -= 1
        precondition(open >= 0, "an examination ended that never began")
        if open == 0 { changed.removeAll() }
    }
}
