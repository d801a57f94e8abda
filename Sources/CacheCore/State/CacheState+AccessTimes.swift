internal import CacheKey

/// What waits to be written into the files: who was used, and which openings were the cache's own.
struct AccessTimes {
    /// Places in the index of entries used since their files were last told: 4 bytes each, because
    /// it may be all of them.
    var pending: [UInt32] = []
    /// The time of the latest use; the next is later, whatever the clock says.
    var latest = FileTime(nanoseconds: 0)
    /// Entries whose files are being told.
    var flushing: Set<CacheKey> = []
    /// Openings by this process that the watch will report. inotify(7) does not say who opened.
    var ownOpens: [CacheKey: Int] = [:]

    /// Whether a reported opening is one of the cache's own; each counts once.
    mutating func isOwn(_ key: CacheKey) -> Bool {
        guard !ownOpens.isEmpty, let count = ownOpens[key] else { return false }
        ownOpens[key] = count > 1 ? count - 1 : nil
        return true
    }
}

/// Recency: a hit, and a direct opening by any program, make an entry the most recently used.
///
/// The order is in memory and, some seconds later, in the files' access times, each later by at least a
/// nanosecond than the one before: sorting the files by them gives the same order again.
extension CacheState {
    /// An entry is used; nothing happens where there is none.
    mutating func used(_ key: CacheKey, at now: FileTime) {
        let time = max(now, uses.latest.successor)
        guard index.contains(key) else { return }
        uses.latest = time
        if let place = index.touch(key, at: time) { uses.pending.append(place) }
    }

    /// An entry was published and its file says when. Another may have been used since then; both orders
    /// must be one.
    mutating func usedByPublication(_ key: CacheKey, _ time: FileTime) {
        guard time > uses.latest, !uses.flushing.contains(key) else { return used(key, at: time) }
        uses.latest = time
    }

    /// Some of the uses to be written into the files, in no order: each has its time. Once that is done,
    /// ``accessTimesFlushed(_:)``. May be none even while others wait: entries go.
    mutating func takeAccessTimes(limit: Int) -> [(key: CacheKey, time: FileTime)] {
        let places = uses.pending.suffix(limit)
        defer {
            uses.pending.removeLast(places.count)
            // Gives back what a burst has taken.
            if uses.pending.isEmpty { uses.pending = [] }
        }
        let taken = places.compactMap { index.takeTouch(at: $0) }
        uses.flushing.formUnion(taken.map(\.key))
        return taken
    }

    /// These files were told, or those that lay under their names meanwhile.
    mutating func accessTimesFlushed(_ keys: some Sequence<CacheKey>) {
        uses.flushing.subtract(keys)
    }

    /// The cache is about to open a file itself.
    mutating func openingItself(_ key: CacheKey) {
        uses.ownOpens[key, default: 0] += 1
    }

    /// It could not open it, so nothing will be reported.
    mutating func didNotOpen(_ key: CacheKey) {
        _ = uses.isOwn(key)
    }
}
