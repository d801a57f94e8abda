internal import CacheKey
internal import SystemPackage

/// Giving memory back.
extension Cache {
    /// Pages are dropped for so long, so that eviction begins soon.
    private static let dropPatience = Duration.milliseconds(100)
    /// Half as many downloads run for so long after memory was critically short.
    private static let tightness = Duration.seconds(60)

    /// Gives memory back. On a disk, the clean pages of cold entries go first, which costs no entry; then
    /// the least recently used are evicted. `completion` is called from the cache's own thread.
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
        // One that was moved away somebody may want to keep.
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
        // Of what is left of broken downloads nothing goes, and so no more of the rest for it.
        let kept = Int64(Double(entries) * measure.keptShare)
        let goal = EvictionGoal(bytes: kept + partials)
        worker.enqueue(
            .run {
                let cold = entries - kept / 2
                let isInMemory = self.directory.fileSystemType?.isInMemory == true
                let dropped = isInMemory ? .nothing : self.dropPages(ofOldest: cold)
                self.evict(
                    Eviction(goal: goal) { evicted, failure in
                        completion(
                            MemoryRelief(
                                evicted: evicted, dropped: dropped,
                                duration: start.duration(to: .now), failure: failure))
                    })
            })
    }

    private func tighten() {
        run { state, _ in state.scheduler.throttle(until: .now + Self.tightness) }
        closeIdleConnections()
    }

    /// Drops the pages of the least recently used entries that hold so many bytes.
    private func dropPages(ofOldest bytes: Int64) -> Removal {
        let deadline = ContinuousClock.now + Self.dropPatience
        var dropped = Removal()
        var passed: Int64 = 0
        var cursor: CacheKey?
        while passed < bytes, ContinuousClock.now < deadline {
            let entries = read { state in
                state.catalog.index.inOrderOfUse(isReversed: true, after: cursor, limit: 64)
            }
            guard let last = entries.last else { break }
            cursor = last.key
            for entry in entries where passed < bytes {
                passed += entry.facts.allocated
                guard isDropped(entry.key) else { continue }
                dropped = dropped + Removal(entries: 1, bytes: entry.inMemory)
            }
        }
        let total = dropped
        run { state, _ in state.counters.dropped = state.counters.dropped + total }
        return dropped
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
    /// Bytes of its pages at most: of a hole there are none.
    fileprivate var inMemory: Int64 { min(facts.size, facts.allocated) }
}
