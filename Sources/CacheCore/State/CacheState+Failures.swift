internal import CacheKey

/// Downloads that fail: who hears of it, what is tried again, what is remembered.
extension CacheState {
    /// A download failed. Where a stale entry will do, it is the answer at once, except for those who
    /// insist on the origin's word; for them, and where there is none, it may be tried again.
    mutating func transferFailed(
        _ key: CacheKey, _ flight: Flight, _ failed: FailedTransfer, _ now: Moment,
        using random: inout some RandomNumberGenerator
    ) -> [Effect] {
        let seconds = retry.memory(
            of: failed.failure, said: failed.said, isOffline: failed.isOffline)
        let failure = failed.failure.retrying(at: seconds > 0 ? now.time + seconds : nil)
        failures.record(failure, of: key, flight.url)
        let effects = failed.letsStaleServe ? staleServed(key, flight) : []
        guard let flight = flights[key], flight.isWanted else {
            counters.failed += 1
            return effects + endFlight(key) + changed(key)
        }
        let pause = retry.pause(
            after: failure, attempts: flight.attempts, retryAfter: failed.said, using: &random)
        if let pause { return effects + postpone(key, flight, failure, until: now + pause) }
        let end = endFlight(key) + self.failed(key, flight, failure)
        return effects + end + (failed.isGone ? withdrawUnpinned(key, flight) : [])
    }

    /// It is over without an image.
    mutating func failed(_ key: CacheKey, _ flight: Flight, _ failure: Failure) -> [Effect] {
        counters.failed += 1
        failures.record(failure, of: key, flight.url)
        return decide(key, for: flight.waiters, failure) + changed(key)
    }

    /// The entry is the answer to all who do not insist on a fresh one, the daemon itself included.
    private mutating func staleServed(_ key: CacheKey, _ flight: Flight) -> [Effect] {
        guard index.contains(key) else { return [] }
        let content = flight.waiters.filter { waiters[$0]?.isRefresh != true }
        counters.staleAnswers += content.count
        flights[key]?.waiters.subtract(content)
        setHeld(key, false)
        return decide(key, for: content, nil)
    }

    /// Pauses a download. Everything it held is free for others.
    private mutating func postpone(
        _ key: CacheKey, _ flight: Flight, _ failure: Failure, until end: Moment
    ) -> [Effect] {
        counters.retried += 1
        var paused = flight
        paused.phase = .retrying
        paused.pausesUntil = end.instant
        paused.failure = failure.retrying(at: end.time)
        paused.becomeUnbegun()
        flights[key] = paused
        let freed = giveBackRoom(key, flight)
        let isNext = retries.add(key, flight.id, at: end.instant)
        return freed + changed(key) + (isNext ? [.planRetry] : [])
    }

    /// Pauses may be over.
    mutating func pausesEnded(now: ContinuousClock.Instant) -> [Effect] {
        var effects: [Effect] = []
        while let place = retries.takeDue(now: now) {
            guard let flight = flights[place.key], flight.id == place.id,
                flight.phase == .retrying, flight.pausesUntil == place.instant
            else { continue }
            queueAgain(place.key)
            effects += changed(place.key)
        }
        return effects + startTransfers()
    }

    /// A download that pauses, or has to begin anew, waits for its turn.
    mutating func queueAgain(_ key: CacheKey) {
        guard let flight = flights[key] else { return }
        flights[key]?.phase = .queued
        flights[key]?.failure = flight.failure?.retrying(at: nil)
        enterQueue(key)
    }

    /// The origin says that the image is gone. A pin keeps it all the same.
    private mutating func withdrawUnpinned(_ key: CacheKey, _ flight: Flight) -> [Effect] {
        let isPinned = flight.isPinned ?? index.facts(of: key)?.isPinned ?? false
        return isPinned ? [] : withdraw(key)
    }
}

extension FailedTransfer {
    /// The origin has the image no longer (RFC 9110 §15.5.5, §15.5.11).
    fileprivate var isGone: Bool {
        isOrigins && (failure.httpStatus == 404 || failure.httpStatus == 410)
    }
}
