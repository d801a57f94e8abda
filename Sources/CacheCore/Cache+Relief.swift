internal import CacheKey
internal import SystemPackage

/// One relief of the machine's memory, slice by slice: first pages are dropped, then entries evicted.
private struct Relieving: Sendable {
    let start: ContinuousClock.Instant
    let goal: EvictionGoal
    /// Bytes of entries whose pages are still to be dropped, the least recently used first.
    var coldBytes: Int64
    /// The last entry whose pages were dropped.
    var cursor: CacheKey?
    var dropped = Removal()
    let completion: @Sendable (MemoryRelief) -> Void
}

/// Giving memory back.
extension Cache {
    /// Dropping pages takes this long at most, so that eviction starts soon.
    private static let longestDropping = Duration.milliseconds(100)
    /// Entries whose pages are dropped in one go.
    private static let dropSlice = 64
    /// After critical memory pressure, half as many downloads run for this long.
    private static let tightness = Duration.seconds(60)

    /// Gives memory back. On a disk, the clean pages of cold entries are dropped first, which costs no entry. Then
    /// the least recently used entries are evicted. `completion` is called from a thread of the cache.
    public func relieve(
        _ measure: ReliefMeasure, completion: @escaping @Sendable (MemoryRelief) -> Void
    ) {
        if measure.tightens { tighten() }
        relieve(measure, since: .now, completion)
    }

    private func relieve(
        _ measure: ReliefMeasure, since start: ContinuousClock.Instant,
        _ completion: @escaping @Sendable (MemoryRelief) -> Void
    ) {
        // The user of a directory that was moved away may want to keep it.
        guard directory.isInPlace else {
            return completion(
                MemoryRelief(
                    evicted: .nothing, dropped: .nothing, duration: start.duration(to: .now),
                    failure: directory.lost))
        }
        drainWatch()
        probeDirtyNames()
        retryUnevictable()
        let held: (entries: Int64, partials: Int64)? = run { state, _ in
            let isPostponed = state.postpones { self.relieve(measure, since: start, completion) }
            return isPostponed ? nil : (state.catalog.index.allocated, state.space.partials.total)
        }
        guard let (entries, partials) = held else { return }
        // Partials are not evicted, and no further entries are evicted in their place.
        let kept = Int64(Double(entries) * measure.keptShare)
        let isInMemory = directory.fileSystemType?.isInMemory == true
        drop(
            Relieving(
                start: start, goal: EvictionGoal(bytes: kept + partials),
                coldBytes: isInMemory ? 0 : entries - kept / 2, completion: completion))
    }

    /// Drops pages beside publications, which touch no entry in the index. Then evicts.
    private func drop(_ relieving: Relieving) {
        worker.enqueue(.runBeside { self.continueDropping(relieving, until: $0) })
    }

    private func continueDropping(_ former: Relieving, until end: ContinuousClock.Instant) {
        var relieving = former
        let deadline = relieving.start + Self.longestDropping
        while relieving.coldBytes > 0, .now < deadline {
            guard dropSlice(&relieving) else { break }
            guard .now < end else { return drop(relieving) }
        }
        evict(relieving)
    }

    private func evict(_ relieving: Relieving) {
        let dropped = relieving.dropped
        run { state, _ in state.counters.dropped = state.counters.dropped + dropped }
        evict(
            Eviction(goal: relieving.goal) { evicted, failure in
                relieving.completion(
                    MemoryRelief(
                        evicted: evicted, dropped: dropped,
                        duration: relieving.start.duration(to: .now), failure: failure))
            })
    }

    private func tighten() {
        run { state, _ in state.scheduler.throttle(until: .now + Self.tightness) }
        closeIdleConnections()
    }

    /// Drops the pages of the least recently used entries; returns `false` if there are no more entries.
    private func dropSlice(_ relieving: inout Relieving) -> Bool {
        let entries = read { [cursor = relieving.cursor] state in
            state.catalog.index.inOrderOfUse(
                isReversed: true, after: cursor, limit: Self.dropSlice)
        }
        for entry in entries where relieving.coldBytes > 0 {
            relieving.coldBytes -= entry.facts.allocated
            relieving.cursor = entry.key
            guard isDropped(entry.key) else { continue }
            relieving.dropped = relieving.dropped + Removal(entries: 1, bytes: entry.inMemory)
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
