package import CacheKey

/// Downloads that fail: who hears of it, what is tried again, what is remembered.
extension CacheState {
    /// A transfer failed. If a stale entry will do, it is the answer at once, except for callers that insist
    /// on the origin's word. For them, and if there is no entry, the download may be tried again.
    package mutating func transferFailed(
        _ key: CacheKey, _ id: FlightID, _ failed: FailedTransfer, now: Moment,
        using random: inout some RandomNumberGenerator, _ effects: inout Effects
    ) {
        transferEnded(key, id)
        startTransfers(&effects)
        guard let flight = downloads.flight(key, id) else { return }
        let seconds = retry.memory(
            of: failed.failure, said: failed.said, isOffline: failed.isOffline)
        let failure = failed.failure.retrying(at: seconds > 0 ? now.time + seconds : nil)
        failures.record(failure, of: key, flight.url)
        if failed.letsStaleServe { serveStale(key, flight, &effects) }
        guard let flight = downloads[key], flight.isWanted else {
            counters.failed += 1
            endFlight(key, &effects)
            return changed(key, &effects)
        }
        let pause = retry.pause(
            after: failure, attempts: flight.attempts, retryAfter: failed.said, using: &random)
        if let pause { return postpone(key, flight, failure, until: now + pause, &effects) }
        endFlight(key, &effects)
        self.failed(key, flight, failure, &effects)
        if failed.isGone { withdrawUnpinned(key, flight, &effects) }
    }

    /// A download is over without an image.
    package mutating func failed(
        _ key: CacheKey, _ flight: Flight, _ failure: Failure, _ effects: inout Effects
    ) {
        counters.failed += 1
        failures.record(failure, of: key, flight.url)
        settle(key, flight.waiters, failure, &effects)
        changed(key, &effects)
    }

    /// The entry is the answer to all who do not insist on a fresh one, the daemon itself included.
    private mutating func serveStale(
        _ key: CacheKey, _ flight: Flight, _ effects: inout Effects
    ) {
        guard catalog.contains(key) else { return }
        let content = flight.waiters.filter { waiters[$0]?.isRefresh != true }
        counters.staleAnswers += content.count
        downloads.update(key) { $0.waiters.subtract(content) }
        setDetached(key, nil)
        settle(key, content, nil, &effects)
    }

    /// Pauses a download. Everything it had is free for others.
    private mutating func postpone(
        _ key: CacheKey, _ flight: Flight, _ failure: Failure, until end: Moment,
        _ effects: inout Effects
    ) {
        counters.retried += 1
        releaseReservation(key, flight)
        downloads.update(key) { $0.pauses(until: end.instant, failure.retrying(at: end.time)) }
        if scheduler.pauses(key, flight.id, until: end.instant) { effects.work.append(.planRetry) }
        changed(key, &effects)
        spaceReleased(&effects)
    }

    /// Pauses may be over.
    package mutating func pausesEnded(now: ContinuousClock.Instant, _ effects: inout Effects) {
        while let due = scheduler.takeDue(now: now) {
            guard let flight = downloads.flight(due.key, due.id),
                case .retrying(until: due.instant) = flight.state
            else { continue }
            queueAgain(due.key)
            changed(due.key, &effects)
        }
        startTransfers(&effects)
    }

    /// The origin says that the image is gone. A pin keeps it all the same.
    private mutating func withdrawUnpinned(
        _ key: CacheKey, _ flight: Flight, _ effects: inout Effects
    ) {
        let isPinned = flight.isPinned ?? catalog.facts(of: key)?.isPinned ?? false
        if !isPinned { withdraw(key, &effects) }
    }

    /// Removes an entry that the cache may no longer have.
    private mutating func withdraw(_ key: CacheKey, _ effects: inout Effects) {
        guard let victim = unlinkPending(key) else { return }
        counters.withdrawn = counters.withdrawn + Removal(entries: 1, bytes: victim.bytes)
        effects.work.append(.unlink(victim))
        changed(key, &effects)
    }

    // MARK: What must not be stored

    /// Time has passed, or the clock was set back: removes entries that must not be stored, once the callers
    /// that waited for them have had time to open them. A caller that waits for other images as well has not
    /// heard yet, and has `time` seconds from then on. Pinned entries stay: a person said so.
    ///
    /// - Parameter limit: entries removed in one call.
    /// - Returns: whether there are more.
    package mutating func removeNotStorable(
        now: UnixTime, time: Int64, limit: Int = VictimSearch.slice, _ effects: inout Effects
    ) -> Bool {
        // What is known of a directory that is not read yet may be another's.
        guard !noStoreGrace.isEmpty, catalog.isRead else { return false }
        var count = 0
        let unreported = waiters.unreported
        for (key, end) in noStoreGrace.all {
            if unreported.contains(key) {
                noStoreGrace.extend(key, to: now + time)
                continue
            }
            guard let facts = catalog.facts(of: key) else {
                noStoreGrace.remove(key)
                continue
            }
            guard end <= now || facts.fetchedAt > now, !facts.isPinned, isRemovable(key) else {
                continue
            }
            guard count < limit else { return true }
            count += 1
            noStoreGrace.remove(key)
            withdraw(key, &effects)
        }
        return false
    }

    /// No newer file is about to take the name, the name was probed, and its file can be unlinked.
    private func isRemovable(_ key: CacheKey) -> Bool {
        !downloads.isPublishing(key) && !catalog.dirtyNames.contains(key)
            && !space.unlinkFailed.contains(key)
    }
}

extension FailedTransfer {
    /// The origin no longer has the image (RFC 9110 §15.5.5, §15.5.11).
    fileprivate var isGone: Bool {
        isOrigins && (failure.httpStatus == 404 || failure.httpStatus == 410)
    }
}
