package import CacheKey

/// The names that change while a probe runs outside the lock.
///
/// A probe is valid only if its name has not changed between the probe and the moment when the
/// result is applied. Otherwise this race is possible:
///
///     scan:        probes K and finds a whole file
///     any caller:  removes K, and its file is unlinked
///     scan:        reports K as an entry        → the index holds an entry without a file
package struct ChangeEpochs {
    /// The epoch in which a probe began.
    package struct Start: Sendable {
        fileprivate let epoch: UInt64
    }

    private var open = 0
    /// The number of changes so far.
    private var epoch: UInt64 = 0
    /// The epoch of each name's last change. Kept only while a probe is running.
    private var changed: [CacheKey: UInt64] = [:]

    /// A probe begins.
    package mutating func begin() -> Start {
        open += 1
        return Start(epoch: epoch)
    }

    /// A name changed.
    package mutating func note(_ key: CacheKey) {
        epoch += 1
        if open > 0 { changed[key] = epoch }
    }

    /// Whether the name has not changed since a probe began, so that its result is valid.
    package func isCurrent(_ key: CacheKey, since start: Start) -> Bool {
        changed[key].map { $0 <= start.epoch } ?? true
    }

    /// A probe has ended, and its results have been applied.
    package mutating func end() {
        open -= 1
        precondition(open >= 0, "a probe ended that never began")
        if open == 0 { changed.removeAll() }
    }
}
