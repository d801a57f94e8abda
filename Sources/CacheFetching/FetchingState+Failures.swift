import CacheDisk
package import CacheKey
package import CacheValues

/// Failed downloads: notifies callers, plans retries, and remembers failures.
extension FetchingState {
    /// A transfer failed.
    ///
    /// If a stale entry can replace the response, callers get it at once, except those that require
    /// the origin's confirmation. The download is retried for the remaining callers, if the policy
    /// allows another attempt.
    ///
    /// - Returns: whether the entry goes too, because its origin no longer has the image.
    package mutating func downloadFailed(
        _ key: CacheKey, _ id: FlightID, _ failed: FailedTransfer, now: Moment,
        using random: inout some RandomNumberGenerator, _ effects: inout Effects
    ) -> Bool {
        transferEnded(id)
        let refusal = hostRefused(key, id, failed, now: now, using: &random, &effects)
        startTransfers(&effects)
        guard let flight = downloads.flight(key, id) else { return false }
        let seconds = retry.negativeTTL(
            of: failed.failure, serverDelay: failed.serverDelay, isOffline: failed.isOffline)
        let failure = failed.failure.retrying(at: seconds > 0 ? now.time + seconds : nil)
        if failure.kind == .addressRefused, flight.isForGuests, !isForGuests(flight) {
            requeue(key, &effects)
            startTransfers(&effects)
            return false
        }
        remember(failure, of: key, flight)
        if failed.allowsStaleIfError { serveStale(key, flight, &effects) }
        guard let flight = wanted(key, after: failure, &effects) else { return false }
        if let refusal, !refusal.wasAlone || flight.attempts < retry.attempts {
            guard goesOn(key, after: failure, flight.attempts, &effects) else { return false }
            waitForHost(key, refusal, &effects)
            return false
        }
        let pause = retry.pause(
            after: failure, attempts: failed.hasProgressed ? 1 : flight.attempts,
            retryAfter: failed.serverDelay, using: &random)
        if let pause {
            guard goesOn(key, after: failure, flight.attempts, &effects) else { return false }
            postpone(
                key, flight, failure, until: now + pause, spendsAttempt: !failed.hasProgressed,
                &effects)
        } else if flight.hasAnotherURL, failure.isOfSource {
            undo(key, &effects) { $0.asksAnotherURL() }
            startTransfers(&effects)
        } else {
            endFlight(key, &effects)
            self.failed(key, flight, failure, &effects)
            let isGone = failed.isGone && !keepsGone
            if isGone || flight.hasClaim { deleteFromStore(key, flight, &effects) }
            // A pinned entry stays in spite of that.
            return isGone && !(flight.isPinned ?? disk.isPinned(key))
        }
        return false
    }

    /// A download that failed, if somebody waits for it. Otherwise it ends.
    private mutating func wanted(
        _ key: CacheKey, after failure: Failure, _ effects: inout Effects
    ) -> Flight? {
        if let flight = downloads[key], flight.isWanted { return flight }
        if let flight = downloads[key] {
            effects.failed(key, flight.name, from: flight.url, failure)
        }
        counters.failed(failure.kind)
        endFlight(key, &effects)
        changed(key, &effects)
        return nil
    }

    /// Another attempt follows, unless no caller takes more than the attempts there were. The callers of the images that
    /// are derived from this one count too.
    private mutating func goesOn(
        _ key: CacheKey, after failure: Failure, _ attempts: Int, _ effects: inout Effects
    ) -> Bool {
        for variant in variants[key] ?? [] {
            _ = goesOn(variant, after: failure, attempts, &effects)
        }
        guard let flight = downloads[key] else { return false }
        let leaving = flight.waiters.filter { waiters[$0]?.attempts ?? .max <= attempts }
        guard !leaving.isEmpty else { return true }
        downloads.update(key) { $0.waiters.subtract(leaving) }
        settle(key, leaving, failure, &effects)
        return wanted(key, after: failure, &effects) != nil
    }

    // MARK: Refusals

    /// A host's request to be asked less.
    private struct Refusal {
        /// The failure, with the time at which the host may be asked again.
        let failure: Failure
        /// Whether the host had no other download.
        let wasAlone: Bool
    }

    /// Pauses the host if the response asks for it. Otherwise the host may have more downloads again. Must come
    /// before another download starts.
    private mutating func hostRefused(
        _ key: CacheKey, _ id: FlightID, _ failed: FailedTransfer, now: Moment,
        using random: inout some RandomNumberGenerator, _ effects: inout Effects
    ) -> Refusal? {
        guard let origin = downloads.flight(key, id)?.origin else { return nil }
        // Without retries nothing waits for the end of a pause.
        guard failed.isHostRefusal, retry.attempts > 1 else {
            if failed.failure.kind == .http { scheduler.accepted(origin) }
            return nil
        }
        let pause = retry.hostPause(
            refusals: scheduler.refusals(of: origin), retryAfter: failed.serverDelay, using: &random
        )
        let end = now + pause
        let failure = failed.failure.retrying(at: end.time)
        let wasAlone = scheduler.refused(origin, failure, until: end.instant)
        effects.work.append(.planRetry)
        return Refusal(failure: failure, wasAlone: wasAlone)
    }

    /// Queues a refused download again, before the others that wait for the host.
    private mutating func waitForHost(
        _ key: CacheKey, _ refusal: Refusal, _ effects: inout Effects
    ) {
        counters.retried += 1
        undo(key, atFront: true, &effects) {
            $0.isRefused(refusal.failure, spendsAttempt: refusal.wasAlone)
        }
    }

    /// A download ended without an image.
    package mutating func failed(
        _ key: CacheKey, _ flight: Flight, _ failure: Failure, _ effects: inout Effects
    ) {
        counters.failed(failure.kind)
        effects.failed(key, flight.name, from: flight.url, failure)
        remember(failure, of: key, flight)
        settle(key, flight.waiters, failure, &effects)
        changed(key, &effects)
    }

    /// An address that is refused to programs in sandboxes says nothing about others.
    private mutating func remember(_ failure: Failure, of key: CacheKey, _ flight: Flight) {
        guard failure.kind != .addressRefused || !isForGuests(flight) else { return }
        failures.record(failure, of: key, flight.name, from: flight.url)
    }

    /// Answers with the stale entry every caller that does not require a fresh one, including the
    /// daemon itself.
    private mutating func serveStale(
        _ key: CacheKey, _ flight: Flight, _ effects: inout Effects
    ) {
        guard disk.contains(key) else { return }
        let content = flight.waiters.filter { waiters[$0]?.isRefresh != true }
        counters.staleAnswers += content.count
        downloads.update(key) { $0.waiters.subtract(content) }
        setDetached(key, nil)
        settle(key, content, nil, &effects)
    }

    /// Pauses a download before its retry. Its slot and its reservation become free for other downloads.
    private mutating func postpone(
        _ key: CacheKey, _ flight: Flight, _ failure: Failure, until end: Moment,
        spendsAttempt: Bool, _ effects: inout Effects
    ) {
        counters.retried += 1
        if scheduler.pauses(key, flight.id, until: end.instant) { effects.work.append(.planRetry) }
        undo(key, &effects) {
            $0.pauses(
                until: end.instant, failure.retrying(at: end.time), spendsAttempt: spendsAttempt)
        }
    }

    /// Time has passed: queues every download whose pause has ended, and asks hosts again.
    package mutating func pausesEnded(now: ContinuousClock.Instant, _ effects: inout Effects) {
        scheduler.endOriginPauses(now: now)
        while let due = scheduler.takeDue(now: now) {
            let key = due.event.key
            guard let flight = downloads.flight(key, due.event.id) else { continue }
            switch flight.state {
            case .retrying(until: due.instant): queueAgain(key)
            case .waitingForOthers(until: due.instant): waitForOthersEnded(key)
            default: continue
            }
            changed(key, &effects)
        }
        startTransfers(&effects)
    }

    /// The machine has another address or default route. Failures that may have come from the network say nothing
    /// any more, and all pauses end.
    package mutating func networkChanged(
        now: ContinuousClock.Instant, _ effects: inout Effects
    ) {
        for kind in Failure.Kind.ofTheNetwork { forgetFailures(kind, &effects) }
        storeMayBeInReach()
        pausesEnded(now: now + retry.longestPause, &effects)
    }
}

extension Failure {
    /// Whether another URL of the image may succeed: the failure does not concern this machine.
    fileprivate var isOfSource: Bool { defaultNegativeTTL != nil }
}

extension FailedTransfer {
    /// Whether the host asks for a pause: 429 (RFC 6585 §4), or 503 with a time (RFC 9110 §15.6.4).
    fileprivate var isHostRefusal: Bool {
        guard isFromOrigin else { return false }
        return failure.httpStatus == 429 || failure.httpStatus == 503 && serverDelay != nil
    }

    /// The origin no longer has the image (RFC 9110 §15.5.5, §15.5.11).
    fileprivate var isGone: Bool {
        isFromOrigin && (failure.httpStatus == 404 || failure.httpStatus == 410)
    }
}
