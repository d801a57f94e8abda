package import CacheKey
import CacheValues

/// The times of last use, and when the entries' files get them.
///
/// A hit makes an entry the most recently used, and so does any program that opens its file. The
/// order changes in memory at once, and in the files' access times seconds later. Each use is at
/// least a nanosecond later than the one before, so sorting the files by access time gives the same
/// order again.
package struct AccessTimes: Sendable {
    /// The time of the latest use. The next use gets a later time, even if the clock says otherwise.
    private var latest = FileTime(nanoseconds: 0)
    /// Entries whose access times are being written.
    private var flushing: Set<CacheKey> = []
    /// Openings by this process that the watch will report. An event does not say which process
    /// opened the file: inotify(7).
    private var ownOpens: [CacheKey: Int] = [:]

    mutating func used(_ key: CacheKey, at now: FileTime, in index: inout Index) {
        let time = max(now, latest.successor)
        if index.touch(key, at: time) { latest = time }
    }

    /// An entry was published, and its file already has the time. Another entry may have been used
    /// since then, so the entry may need a later time: memory and files must give the same order.
    mutating func published(_ key: CacheKey, _ time: FileTime, in index: inout Index) {
        guard time > latest, !flushing.contains(key) else { return used(key, at: time, in: &index) }
        latest = time
    }

    mutating func take(
        limit: Int, from index: inout Index
    ) -> [(key: CacheKey, time: FileTime)] {
        let taken = index.takeTouches(limit: limit)
        flushing.formUnion(taken.map(\.key))
        return taken
    }

    /// The access times of these files have been written. If another file took the name, that file
    /// got the time.
    package mutating func flushed(_ keys: some Sequence<CacheKey>) { flushing.subtract(keys) }

    package mutating func openingItself(_ key: CacheKey) { ownOpens[key, default: 0] += 1 }

    /// The cache could not open the file, so the watch will not report an opening.
    package mutating func didNotOpen(_ key: CacheKey) { _ = takeOwnOpen(of: key) }

    /// Whether a reported opening is one of the cache's own. Each own opening is matched once.
    mutating func takeOwnOpen(of key: CacheKey) -> Bool {
        guard !ownOpens.isEmpty, let count = ownOpens[key] else { return false }
        ownOpens[key] = count > 1 ? count - 1 : nil
        return true
    }

    mutating func forgetOwnOpens() { ownOpens = [:] }
}
