internal import CacheKey

/// Prefetches give way: what is visible never waits for the end of one.
extension CacheState {
    /// Where something visible waits for a place, a prefetch that has one stops: one after the other, so
    /// that none stops for whom the place of another is free by then.
    mutating func prefetchesGiveWay() -> [Effect] {
        guard !isDraining, !prefetches.isEmpty, queue.isVisibleWaiting else { return [] }
        var effects: [Effect] = []
        if queue.isVisibleNext, running >= transferLimit, !hosts.isClearing,
            let key = cheapestPrefetch(atAwaitedHost: false)
        {
            effects += giveWay(key)
        }
        while let key = cheapestPrefetch(atAwaitedHost: true) { effects += giveWay(key) }
        return effects
    }

    /// Whether something visible waits for a place at this host, and none becomes free.
    private func isAwaited(_ origin: Substring) -> Bool {
        queue.isVisibleAside(origin) && !hosts.isClearing(origin)
    }

    /// Of all prefetches, or of those at hosts where a place is waited for, the one that has received the
    /// least, of equals the latest.
    private mutating func cheapestPrefetch(atAwaitedHost: Bool) -> CacheKey? {
        var cheapest: (key: CacheKey, flight: Flight)?
        for key in prefetches {
            guard let flight = flights[key], !atAwaitedHost || isAwaited(flight.url.origin)
            else { continue }
            guard urgency(of: flight) == .background else {
                prefetches.remove(key)
                continue
            }
            if let other = cheapest?.flight, other.costToStop < flight.costToStop { continue }
            cheapest = (key, flight)
        }
        return cheapest?.key
    }

    /// It stops, keeps what it has, and waits for its turn again with all who want it.
    private mutating func giveWay(_ key: CacheKey) -> [Effect] {
        guard let flight = flights[key] else { return [] }
        let freed = replaceFlight(key, flight)
        return [.cancelTransfer(flight.id, key, discardsPartial: false)] + freed + changed(key)
    }

    /// Takes a download that runs off the books and queues another for all who wait for it.
    mutating func replaceFlight(_ key: CacheKey, _ flight: Flight) -> [Effect] {
        let freed = endFlight(key)
        var next = flight
        next.id = FlightID(rawValue: nextID())
        next.phase = .queued
        next.becomeUnbegun()
        // It did not fail.
        next.attempts -= 1
        flights[key] = next
        enterQueue(key)
        return freed
    }
}

extension Flight {
    fileprivate var costToStop: (Int64, UInt64) { (received, .max - id.rawValue) }
}
