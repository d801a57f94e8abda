internal import CacheKey

/// What removing freed.
public struct Removal: Hashable, Sendable {
    /// Entries removed; downloads stopped are not counted.
    public var entries = 0
    /// Bytes the disk held for them.
    public var bytes: Int64 = 0

    public static let nothing = Removal()

    public static func + (left: Removal, right: Removal) -> Removal {
        Removal(entries: left.entries + right.entries, bytes: left.bytes + right.bytes)
    }
}

/// Removing, because a person asked.
extension CacheState {
    /// Removes an entry and stops its download. Pinned entries stay unless they were named one by one.
    ///
    /// - Parameter isDisowned: whether what lies under the name is no entry because the cache says so: it is
    ///   as good as nothing, and yet has to go.
    mutating func removeAsked(
        _ key: CacheKey, sparesPinned: Bool, isDisowned: Bool = false
    ) -> (Removal, [Effect]) {
        unremovable.remove(key)
        if sparesPinned, index.facts(of: key)?.isPinned == true { return (Removal(), []) }
        var effects = stopBecauseRemoved(key)
        if failures.forget(key) { effects += changed(key) }
        if flights[key]?.phase == .publishing, let facts = index.remove(key) {
            // Its file is replaced any moment: what is queued now would remove the new one.
            epochs.note(key)
            counters.removed += 1
            return (Removal(entries: 1, bytes: facts.allocated), effects + changed(key))
        }
        guard let victim = condemn(key) else {
            if isDisowned, flights[key]?.phase != .publishing {
                effects.append(.unlink(condemn(unindexed: key, 0)))
            }
            return (Removal(), effects)
        }
        counters.removed += 1
        effects.append(.unlink(victim))
        effects += changed(key)
        return (Removal(entries: 1, bytes: victim.bytes), effects)
    }

    /// What lies under the name is not what was fetched, and its file or the directory says so.
    mutating func damageFound(_ key: CacheKey) -> [Effect] {
        counters.damaged += 1
        epochs.note(key)
        dirtyNames.insert(key)
        return index.remove(key) == nil ? [] : changed(key)
    }

    private mutating func stopBecauseRemoved(_ key: CacheKey) -> [Effect] {
        guard let flight = flights[key] else {
            return partials.mayHold(key) || trust != .whole ? [.discardPartial(key)] : []
        }
        guard flight.phase != .publishing else {
            flights[key]?.isUnwanted = true
            return []
        }
        let freed = endFlight(key)
        let stop: Effect =
            flight.phase.isRunning
            ? .cancelTransfer(flight.id, key, discardsPartial: true) : .discardPartial(key)
        return [stop] + decide(key, for: flight.waiters, .removed) + changed(key) + freed
            + startTransfers()
    }
}
