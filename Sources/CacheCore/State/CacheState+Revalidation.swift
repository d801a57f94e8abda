internal import CacheKey

/// Entries the origin confirmed.
extension CacheState {
    /// The record of a confirmed entry was rewritten, or could not be. If the entry went meanwhile, the
    /// flight begins anew, and then has nothing to ask about.
    mutating func confirmed(_ revalidation: Revalidation, _ end: RevalidationEnd) -> [Effect] {
        let key = revalidation.key
        epochs.note(key)
        guard let flight = flights[key], flight.id == revalidation.flight else {
            preconditionFailure("\(key) was confirmed without a flight")
        }
        publishing -= 1
        guard !flight.isUnwanted else { return removed(key, flight, end) }
        switch end {
        case .gone: return lost(key, flight)
        case .unstored: break
        case .stored(let facts):
            if !index.update(key, facts) { index.insert(key, facts) }
            handOver(key, facts)
        }
        // A stranger may have been at it meanwhile, and been noticed too early to count.
        dirtyNames.insert(key)
        counters.revalidated += 1
        failures.forget(key)
        return endFlight(key) + decide(key, for: flight.waiters, nil) + changed(key)
            + startTransfers()
    }

    /// It was removed meanwhile, and its file left to this.
    private mutating func removed(
        _ key: CacheKey, _ flight: Flight, _ end: RevalidationEnd
    ) -> [Effect] {
        var bytes: Int64 = 0
        if case .stored(let facts) = end { bytes = facts.allocated }
        let victim = condemn(key) ?? condemn(unindexed: key, bytes)
        return [.unlink(victim)] + endFlight(key) + decide(key, for: flight.waiters, .removed)
            + changed(key) + startTransfers()
    }

    private mutating func lost(_ key: CacheKey, _ flight: Flight) -> [Effect] {
        guard flight.isWanted, !isDraining else {
            return endFlight(key) + decide(key, for: flight.waiters, .shuttingDown)
                + changed(key) + startTransfers()
        }
        queueAgain(key)
        return changed(key) + startTransfers()
    }
}
