import CacheDisk
package import CacheKey
package import CacheValues

/// Images that are derived from others.
///
/// A derived image is a download without a transfer: it waits for its original as one more of the original's callers,
/// and then for the program that makes it. What comes back is published like any other image.
extension FetchingState {
    /// Whether an image begins with its original: a smaller one, or that of an account which gives no fields of its own.
    /// If its original was evicted it is not derived again unless the origin has a newer version: its own record has the
    /// validators to ask with.
    func isDerivedHere(_ key: CacheKey, _ name: CacheURL, _ fields: [RequestField]) -> Bool {
        guard name.side != nil || name.account != nil && fields.isEmpty else { return false }
        return !disk.contains(key) || disk.contains(CacheKey(name.source))
    }

    /// Asks for the original of a derived image, unless it was last asked for with the same urgency.
    mutating func findOriginal(_ key: CacheKey, _ flight: Flight, _ effects: inout Effects) {
        let urgency = urgency(of: flight)
        let isRefresh = flight.waiters.contains { waiters[$0]?.isRefresh == true }
        guard let wait = flight.wait,
            wait.priority != urgency || isRefresh && !wait.isRefresh
        else { return }
        downloads.update(key) { flight in
            flight.wait?.priority = urgency
            flight.wait?.isRefresh = isRefresh || wait.isRefresh
        }
        effects.work.append(
            .findOriginal(flight.id, key, derivedImage(flight, isRefresh: isRefresh)))
    }

    /// A derived image begins to wait for its original. ``requested(_:_:by:_:name:stale:now:_:)`` follows for the
    /// original, then ``waiterNamed(_:_:)``. `nil` if nobody wants the derived image any more.
    package mutating func originalWanted(
        for key: CacheKey, _ id: FlightID, _ options: FetchOptions
    ) -> WaiterID? {
        guard downloads.flight(key, id)?.awaitsOriginal == true else { return nil }
        let waiter = waiterBegan(options)
        waiters.update(waiter) { $0.variant = key }
        downloads.update(key) { $0.wait?.callers.append(waiter) }
        return waiter
    }

    /// The original was asked for again: this caller stands for the derived image in place of those before it.
    package mutating func originalAsked(
        for key: CacheKey, _ id: FlightID, by waiter: WaiterID, _ effects: inout Effects
    ) {
        guard let wait = downloads.flight(key, id)?.wait, wait.callers.contains(waiter) else {
            return
        }
        downloads.update(key) { $0.wait?.callers = [waiter] }
        for caller in wait.callers where caller != waiter { waiterLeft(caller, &effects) }
    }

    /// The original of a derived image is there, or will not come.
    mutating func originalSettled(
        for key: CacheKey, _ outcome: Outcome, _ effects: inout Effects
    ) {
        guard let flight = downloads[key], let wait = flight.wait,
            wait.callers.contains(outcome.waiter)
        else { return }
        let original = CacheKey(flight.name.source)
        // Another caller may stand for those who want the origin's confirmation.
        if wait.isRefresh, outcome.failures.isEmpty,
            wait.callers.contains(where: { $0 != outcome.waiter && waiters[$0] != nil })
        {
            return
        }
        if let failure = outcome.failures[original] {
            endFlight(key, &effects)
            failed(key, flight, failure, &effects)
        } else {
            originalFound(for: key, flight.id, original, &effects)
        }
    }

    /// There is an image to derive this one from: its original, or a larger one that was derived from it.
    package mutating func originalFound(
        for key: CacheKey, _ id: FlightID, _ source: CacheKey, _ effects: inout Effects
    ) {
        guard let flight = downloads.flight(key, id), flight.awaitsOriginal else { return }
        leaveOriginal(key, flight, &effects)
        downloads.update(key) { $0.derives() }
        effects.work.append(.derive(flight.id, key, derivedImage(flight), from: source))
        changed(key, &effects)
    }

    /// The origin has a newer version of the image that this one was derived from, or nothing is known to ask it with.
    package mutating func originalNeeded(
        _ key: CacheKey, _ id: FlightID, _ effects: inout Effects
    ) {
        transferEnded(id)
        if let flight = downloads.flight(key, id) {
            undo(key, &effects) { $0.awaitsItsOriginal() }
            variants[CacheKey(flight.name.source), default: []].insert(key)
            urgencyChanged(key, &effects)
        }
        startTransfers(&effects)
    }

    /// The image was derived and checked, and its space is reserved. It is published.
    package mutating func derived(
        _ key: CacheKey, _ id: FlightID, size: Int64, _ effects: inout Effects
    ) {
        guard downloads.flight(key, id)?.isDeriving == true else { return }
        disk.space.wrote(key, size)
        _ = downloads.update(key) { $0.receives(size, of: size, nil) }
        counters.derived += 1
        publish(key, .publish(id, key), &effects)
    }

    /// The image that this one was derived from was confirmed, and has not changed.
    package mutating func derivedConfirmed(
        _ key: CacheKey, _ id: FlightID, _ effects: inout Effects
    ) {
        guard downloads.flight(key, id)?.isDeriving == true else { return }
        publish(key, .confirm(id, key), &effects)
    }

    /// The image cannot be derived. Its original stays.
    package mutating func derivingFailed(
        _ key: CacheKey, _ id: FlightID, _ failure: Failure, now: UnixTime, _ effects: inout Effects
    ) {
        guard let flight = downloads.flight(key, id), flight.isDeriving || flight.awaitsOriginal
        else { return }
        let seconds = retry.negativeTTL(of: failure, serverDelay: nil, isOffline: false)
        endFlight(key, &effects)
        failed(key, flight, failure.retrying(at: seconds > 0 ? now + seconds : nil), &effects)
        startTransfers(&effects)
    }

    /// A derived image ceases to wait for its original.
    mutating func leaveOriginal(_ key: CacheKey, _ flight: Flight, _ effects: inout Effects) {
        guard let wait = flight.wait else { return }
        downloads.update(key) { $0.wait = nil }
        let original = CacheKey(flight.name.source)
        variants[original]?.remove(key)
        if variants[original]?.isEmpty == true { variants[original] = nil }
        for caller in wait.callers { waiterLeft(caller, &effects) }
    }

    /// An original was published. What could not be derived from its former bytes may be derived from these.
    package mutating func originalChanged(_ name: CacheURL) {
        guard counters.failures[.underivable] != nil, name.side == nil else { return }
        for side in CacheURL.sides {
            guard let variant = try? name.derived(side: side) else { continue }
            let key = CacheKey(variant)
            if failures.kind(of: key) == .underivable { failures.forget(key) }
        }
    }

    private func derivedImage(_ flight: Flight, isRefresh: Bool = false) -> DerivedImage {
        DerivedImage(
            url: flight.url, name: flight.name, fields: flight.fields,
            priority: urgency(of: flight),
            client: client(of: flight),
            isRefresh: isRefresh)
    }
}
