package import CacheKey

/// When entries were used last, and which of these times are not in the files' access times yet.
///
/// A hit, and a direct opening by any program, makes an entry the most recently used. The order is in
/// memory and, seconds later, in the access times. Each use is at least a nanosecond later than the one
/// before, so sorting the files by access time gives the same order again.
package struct AccessTimes: Sendable {
    /// Places in the index of entries whose use is not in their files yet: 4 bytes each, because it may be
    /// all of them.
    private var pending: [UInt32] = []
    /// The time of the latest use. The next one is later, whatever the clock says.
    private var latest = FileTime(nanoseconds: 0)
    /// Entries whose files are being written to.
    private var flushing: Set<CacheKey> = []
    /// Openings by this process that the watch will report. inotify(7) does not say who opened.
    private var ownOpens: [CacheKey: Int] = [:]

    package var pendingCount: Int { pending.count }

    package mutating func used(_ key: CacheKey, at now: FileTime, in index: inout Index) {
        let time = max(now, latest.successor)
        guard index.contains(key) else { return }
        latest = time
        if let place = index.touch(key, at: time) { pending.append(place) }
    }

    /// An entry was published, and its file already has the time. Another entry may have been used since;
    /// both orders must be the same.
    package mutating func published(_ key: CacheKey, _ time: FileTime, in index: inout Index) {
        guard time > latest, !flushing.contains(key) else { return used(key, at: time, in: &index) }
        latest = time
    }

    package mutating func take(
        limit: Int, from index: inout Index
    ) -> [(key: CacheKey, time: FileTime)] {
        let places = pending.suffix(limit)
        defer {
            pending.removeLast(places.count)
            // Give the memory of a burst back.
            if pending.isEmpty { pending = [] }
        }
        let taken = places.compactMap { index.takeTouch(at: $0) }
        flushing.formUnion(taken.map(\.key))
        return taken
    }

    /// These files have their times, or whatever lay under their names has.
    package mutating func flushed(_ keys: some Sequence<CacheKey>) { flushing.subtract(keys) }

    package mutating func openingItself(_ key: CacheKey) { ownOpens[key, default: 0] += 1 }

    /// Whether a reported opening is one of the cache's own. Each counts once.
    package mutating func takeOwnOpen(of key: CacheKey) -> Bool {
        guard !ownOpens.isEmpty, let count = ownOpens[key] else { return false }
        ownOpens[key] = count > 1 ? count - 1 : nil
        return true
    }

    package mutating func forgetOwnOpens() { ownOpens = [:] }
}
