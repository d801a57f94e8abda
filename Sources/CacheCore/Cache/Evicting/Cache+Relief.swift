import CacheDisk
import CacheFetching
internal import CacheKey
import CacheModel
import CacheValues
internal import SystemPackage

/// The dropping of pages, slice by slice.
private struct Dropping: Sendable {
    let deadline: ContinuousClock.Instant
    /// Bytes of entries whose pages are still to be dropped, the least recently used first.
    var coldBytes: Int64
    /// The last entry whose pages were dropped.
    var cursor: CacheKey?
    var result: PageDrop
    let completion: @Sendable (PageDrop) -> Void
}

/// Giving memory back without removing an entry. ``evict(toBytes:fetchedBefore:completion:)`` removes entries.
extension Cache {
    /// Dropping pages takes this long at most, because it reads the inode of each file.
    private static let longestDropping = Duration.milliseconds(100)
    /// Entries whose pages are dropped in one go.
    private static let dropSlice = 64
    /// After critical memory pressure, half as many downloads run for this long.
    private static let tightness = Duration.seconds(60)

    /// Whether the files of entries are kept in memory, so that only their removal frees it.
    public var isInMemory: Bool { directory.fileSystemType?.isInMemory == true }

    /// Halves the number of concurrent downloads for a minute.
    public func throttleDownloads() {
        run { state, _ in state.fetching.memoryBecameShort(until: .now + Self.tightness) }
    }

    /// Drops the clean pages of the least recently used entries. The kernel reads them again when they are needed.
    /// Does nothing if the files are kept in memory. Waits for the first scan of the directory.
    ///
    /// - Parameters:
    ///   - share: the share of the bytes of all entries, 0 to 1.
    ///   - completion: called on a thread of the cache.
    public func dropPages(
        ofColdest share: Double, completion: @escaping @Sendable (PageDrop) -> Void
    ) {
        // The user of a directory that was moved away may want to keep it as it is.
        guard directory.isInPlace else { return completion(PageDrop(failure: directory.lost)) }
        drainWatch()
        probeDirtyNames()
        let held: PageDrop? = run { state, _ in
            let isPostponed = state.postpones {
                self.dropPages(ofColdest: share, completion: completion)
            }
            return isPostponed
                ? nil
                : PageDrop(
                    entryBytes: state.disk.index.allocated,
                    partialBytes: state.disk.space.partials.total)
        }
        guard let held else { return }
        let coldBytes = isInMemory ? 0 : Int64(Double(held.entryBytes) * share)
        drop(
            Dropping(
                deadline: .now + Self.longestDropping, coldBytes: coldBytes, result: held,
                completion: completion))
    }

    /// Drops pages beside publications, which touch no entry in the index.
    private func drop(_ dropping: Dropping) {
        worker.enqueue(.runBeside { self.continueDropping(dropping, until: $0) })
    }

    private func continueDropping(_ former: Dropping, until end: ContinuousClock.Instant) {
        var dropping = former
        while dropping.coldBytes > 0, .now < dropping.deadline {
            guard dropSlice(&dropping) else { break }
            guard .now < end else { return drop(dropping) }
        }
        let dropped = dropping.result.dropped
        run { state, _ in state.fetching.counters.dropped += dropped }
        dropping.completion(dropping.result)
    }

    /// Drops the pages of the least recently used entries; returns `false` if there are no more entries.
    private func dropSlice(_ dropping: inout Dropping) -> Bool {
        let entries = read { [cursor = dropping.cursor] state in
            state.disk.index.inOrderOfUse(
                isReversed: true, after: cursor, limit: Self.dropSlice)
        }
        for entry in entries where dropping.coldBytes > 0 {
            dropping.coldBytes -= entry.facts.allocated
            dropping.cursor = entry.key
            guard isDropped(entry.key) else { continue }
            dropping.result.dropped += Removal(entries: 1, bytes: entry.inMemory)
        }
        return !entries.isEmpty
    }

    private func isDropped(_ key: CacheKey) -> Bool {
        do {
            try openingQuietly(key) { (file) throws(Errno) in
                try directory.kernel.dropPages(of: file)
            }
            return true
        } catch {
            return false
        }
    }
}

extension ListedEntry {
    /// The most bytes that its pages can hold. A hole in the file has none.
    fileprivate var inMemory: Int64 { min(facts.size, facts.allocated) }
}
