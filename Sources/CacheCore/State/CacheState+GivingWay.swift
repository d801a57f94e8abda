internal import CacheKey

/// Prefetches give way: what is visible does not wait for the end of one.
extension CacheState {
    /// Where something visible waits for a place, a prefetch that has one stops: one after the other, so
    /// that none stops for whom the place of another is free by then.
    ///
    /// A call gives way once all it wants is named, and may want a prefetch itself.
    mutating func prefetchesGiveWay() -> [Effect] {
        guard !prefetches.isEmpty, queue.isVisibleWaiting, mayStart else { return [] }
        var effects: [Effect] = []
        if slots.excess >= 0, queue.isVisibleNext(slots), !slots.isClearing,
            let key = cheapest(
                of: prefetches.origins.values.joined(), ifAsMany: slots.excess + 1)
        {
            effects += giveWay(key)
        }
        for (origin, keys) in prefetches.origins
        where queue.isVisibleAside(origin, slots) && !slots.isClearing(origin) {
            if let key = cheapest(of: keys, ifAsMany: slots.excess(origin) + 1) {
                effects += giveWay(key)
            }
        }
        return effects
    }

    /// The prefetch that has received the least, of equals the latest; none if fewer than so many may give
    /// way, which together would make no place.
    private func cheapest(of keys: some Sequence<CacheKey>, ifAsMany least: Int) -> CacheKey? {
        var count = 0
        var cheapest: (key: CacheKey, cost: (Int64, UInt64))?
        for key in keys {
            guard let flight = flights[key], mayGiveWay(flight) else { continue }
            count += 1
            if let cheapest, cheapest.cost < flight.costToStop { continue }
            cheapest = (key, flight.costToStop)
        }
        return count >= least ? cheapest?.key : nil
    }

    /// What is nearly through ends sooner than another connection is made; and who has given way often goes
    /// on to the end.
    private func mayGiveWay(_ flight: Flight) -> Bool {
        let isNearlyThrough = flight.total.map { $0 - flight.received < PartialPolicy.smallRest }
        return urgency(of: flight) == .background && flight.preemptions < Self.patience
            && (isNearlyThrough != true || flight.isStalled)
    }

    /// Some seconds have passed: a prefetch that received nothing meanwhile is not about to end, however
    /// little is left of it.
    mutating func prefetchesLookedAt() -> [Effect] {
        for key in prefetches.origins.values.joined() {
            guard let flight = flights[key] else { continue }
            flights[key]?.isStalled = flight.receivedAtLook == flight.received
            flights[key]?.receivedAtLook = flight.received
        }
        return prefetchesGiveWay()
    }

    /// How often a prefetch gives way at most.
    private static var patience: Int { 3 }

    /// It stops, keeps what it has, and has the next turn of those who want it.
    private mutating func giveWay(_ key: CacheKey) -> [Effect] {
        guard let flight = flights[key] else { return [] }
        let freed = replaceFlight(key, flight, atFront: true)
        flights[key]?.preemptions += 1
        return [.cancelTransfer(flight.id, key, discardsPartial: false)] + freed + changed(key)
    }

    /// Takes a download that runs off the books and queues another for all who wait for it.
    mutating func replaceFlight(
        _ key: CacheKey, _ flight: Flight, atFront: Bool = false
    ) -> [Effect] {
        let freed = endFlight(key)
        var next = flight
        next.id = FlightID(rawValue: nextID())
        next.phase = .queued
        next.becomeUnbegun()
        // It did not fail.
        next.attempts -= 1
        flights[key] = next
        if next.isDetached { holds.add() }
        enterQueue(key, atFront: atFront)
        return freed
    }
}

extension Flight {
    fileprivate var costToStop: (Int64, UInt64) { (received, .max - id.rawValue) }
}
