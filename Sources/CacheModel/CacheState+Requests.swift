package import CacheKey

/// Callers: what they ask for, what is answered at once, and when they leave.
extension CacheState {
    /// A caller comes. It names its images with ``requested(_:_:by:_:stale:now:_:)``, then calls
    /// ``waiterNamed(_:_:)``.
    package mutating func waiterBegan(_ options: FetchOptions = FetchOptions()) -> WaiterID {
        let id = WaiterID(rawValue: nextID())
        waiters.insert(id, options)
        return id
    }

    /// A caller asks for an image. Its name has been looked up, so the catalog vouches for it.
    ///
    /// - Parameters:
    ///   - waiter: `nil` if nobody waits and the download goes on by itself.
    ///   - stale: what may be done with the entry, if it was found to be stale.
    package mutating func requested(
        _ key: CacheKey, _ url: CacheURL, by waiter: WaiterID?, _ options: FetchOptions,
        stale: Staleness? = nil, now: FileTime, _ effects: inout Effects
    ) {
        catalog.used(key, at: now)
        if options.isRefresh {
            failures.forget(key)
            if let waiter { waiters.update(waiter) { $0.isRefresh = true } }
        } else if isInherited(key, from: options.predecessor, by: waiter) {
            counters.hits += 1
            return
        } else if isAnswered(key, url, by: waiter, stale, now: now.wallTime, &effects) {
            return
        }
        counters.misses += 1
        guard !isDraining else {
            if let waiter { waiters.update(waiter) { $0.failures[key] = .shuttingDown } }
            return
        }
        join(key, url, &effects)
        if let waiter { wait(waiter, for: key) } else { detach(key, options) }
        if options.isRefresh, downloads[key]?.phase == .retrying {
            // Those who wait already keep as many attempts as they had.
            downloads.update(key) { $0.addAttempt() }
            queueAgain(key)
            changed(key, &effects)
        }
        startQueued(&effects)
    }

    /// A caller cannot have these images.
    package mutating func refused(
        _ keys: some Sequence<CacheKey>, by id: WaiterID, _ failure: Failure
    ) {
        waiters.update(id) { waiter in
            for key in keys { waiter.failures[key] = failure }
        }
    }

    /// The caller has named all of its images.
    package mutating func waiterNamed(_ id: WaiterID, _ effects: inout Effects) {
        preemptPrefetches(&effects)
        waiters.update(id) { $0.isComplete = true }
        finishIfSettled(id, &effects)
    }

    /// A caller that will not wait is about to name so many images. If that is within the limit,
    /// ``detachedNamed(_:_:)`` follows; otherwise it names none.
    package mutating func detachedAnnounced(_ images: Int) -> Bool {
        guard waiters.detached.admits(images) else { return false }
        waiters.detached.announce(images)
        return true
    }

    /// The caller has named them.
    package mutating func detachedNamed(_ images: Int, _ effects: inout Effects) {
        waiters.detached.named(images)
        preemptPrefetches(&effects)
    }

    // MARK: Leaving

    /// Another caller takes the place of this one, which will hear of no end. What it has stays known until
    /// it leaves.
    package mutating func waiterReplaced(_ id: WaiterID) {
        waiters.update(id) { $0.isComplete = false }
    }

    /// The caller leaves, and will hear of no end. ``waiterLeft(_:_:ifQueued:_:)`` follows for all it waits
    /// for, then ``waiterGone(_:_:)``: in steps, because it may be very much.
    ///
    /// - Returns: the keys it waits for.
    package mutating func waiterLeaves(_ id: WaiterID) -> [CacheKey] {
        waiterReplaced(id)
        return Array(waiters[id]?.pending ?? [])
    }

    /// The caller no longer waits for these. Downloads that nobody else waits for stop.
    ///
    /// - Parameter ifQueued: only queued downloads. These come first, so that none starts that is to stop.
    package mutating func waiterLeft(
        _ id: WaiterID, _ keys: ArraySlice<CacheKey>, ifQueued: Bool = false,
        _ effects: inout Effects
    ) {
        for key in keys where !ifQueued || downloads[key]?.phase == .queued {
            guard let waiter = waiters[id], waiters.stopWaiting(id, for: key) else { continue }
            if let flight = downloads[key], flight.phase == .queued {
                scheduler.dequeue(Ticket(key: key, waiter: id), FlowKey(waiter, flight.origin))
            }
            downloads.update(key) { $0.waiters.remove(id) }
            stopIfUnwanted(key, &effects)
            if let flight = downloads[key], flight.phase.isRunning {
                scheduler.mayBePrefetch(key, flight.origin)
            }
        }
    }

    package mutating func waiterGone(_ id: WaiterID, _ effects: inout Effects) {
        waiters.remove(id)
        startTransfers(&effects)
    }

    /// All of that in one step.
    package mutating func waiterLeft(_ id: WaiterID, _ effects: inout Effects) {
        let keys = waiterLeaves(id)[...]
        waiterLeft(id, keys, ifQueued: true, &effects)
        waiterLeft(id, keys, &effects)
        waiterGone(id, &effects)
    }

    // MARK: Settling

    /// Tells every one of these callers how the download ended; each hears once.
    ///
    /// - Parameter failure: `nil` if the image is cached.
    package mutating func settle(
        _ key: CacheKey, _ callers: Set<WaiterID>, _ failure: Failure?, _ effects: inout Effects
    ) {
        let isUnshareable = failure == nil && isUnshareable(key)
        for id in callers {
            waiters.settle(id, key, failure, isUnshareable: isUnshareable)
            finishIfSettled(id, &effects)
        }
    }

    private mutating func finishIfSettled(_ id: WaiterID, _ effects: inout Effects) {
        if let outcome = waiters.takeOutcome(id) { effects.notices.append(.finish(outcome)) }
    }

    /// Whether the image answers only the callers that waited for it: it must not be stored, or was stale on
    /// arrival.
    private func isUnshareable(_ key: CacheKey) -> Bool {
        if noStoreGrace.contains(key) { return true }
        guard let facts = catalog.facts(of: key), let end = facts.freshUntil else { return false }
        return end <= facts.fetchedAt
    }

    /// Whether the caller, or the one whose place it takes, has the image already, and it is still there.
    private mutating func isInherited(
        _ key: CacheKey, from former: WaiterID?, by id: WaiterID?
    ) -> Bool {
        guard let id, catalog.contains(key),
            waiters.has(id, key) || former.map({ waiters.has($0, key) }) == true
        else { return false }
        waiters.settle(id, key, nil, isUnshareable: isUnshareable(key))
        return true
    }

    // MARK: Joining

    /// Joins the download of `key`, or queues one.
    private mutating func join(_ key: CacheKey, _ url: CacheURL, _ effects: inout Effects) {
        guard downloads.contains(key) else {
            downloads.insert(key, Flight(id: FlightID(rawValue: nextID()), url: url))
            changed(key, &effects)
            return
        }
        counters.joined += 1
        // If it was removed while being published, it may stay: it is wanted again.
        downloads.update(key) { $0.setUnwanted(false) }
    }

    private mutating func wait(_ id: WaiterID, for key: CacheKey) {
        downloads.update(key) { $0.waiters.insert(id) }
        waiters.wait(id, for: key)
        guard let flight = downloads[key], flight.phase == .queued, let waiter = waiters[id] else {
            return
        }
        scheduler.enqueue(Ticket(key: key, waiter: id), FlowKey(waiter, flight.origin))
    }

    /// The daemon itself waits from now on; for the more urgent reason, if for two.
    private mutating func detach(_ key: CacheKey, _ options: FetchOptions) {
        guard let flight = downloads[key] else { return }
        let ticket = Ticket(key: key, waiter: nil)
        if let detached = flight.detached {
            guard options.priority > detached.priority else { return }
            if flight.phase == .queued {
                scheduler.dequeue(ticket, FlowKey(detached, flight.origin))
            }
        }
        let detached = Flight.Detached(priority: options.priority, client: options.client)
        setDetached(key, detached)
        guard flight.phase == .queued else { return }
        scheduler.enqueue(ticket, FlowKey(detached, flight.origin))
    }

    /// Sets or ends the daemon's own wait.
    package mutating func setDetached(_ key: CacheKey, _ detached: Flight.Detached?) {
        guard let flight = downloads[key] else { return }
        downloads.update(key) { $0.detached = detached }
        switch (flight.detached, detached) {
        case (nil, .some): waiters.detached.add()
        case (.some, nil): waiters.detached.remove()
        default: break
        }
    }

    // MARK: Answers without a download

    private enum Answer {
        case hit
        /// A hit, and the origin is asked in the background.
        case hitAndRevalidate
        /// A hit because the origin failed a short while ago.
        case staleHit
        case failure(Failure)
        /// The origin has to be asked first.
        case ask
    }

    /// Answers a request from what is cached or remembered; `false` if the origin has to be asked first.
    private mutating func isAnswered(
        _ key: CacheKey, _ url: CacheURL, by id: WaiterID?, _ stale: Staleness?, now: UnixTime,
        _ effects: inout Effects
    ) -> Bool {
        switch answer(key, stale, now) {
        case .ask: return false
        case .hit: break
        case .hitAndRevalidate: revalidate(key, url, &effects)
        case .staleHit: counters.staleAnswers += 1
        case .failure(let failure):
            counters.misses += 1
            counters.failuresRepeated += 1
            if let id { waiters.update(id) { $0.failures[key] = failure } }
            return true
        }
        counters.hits += 1
        if let id { waiters.update(id) { $0.delivered.insert(key) } }
        return true
    }

    private func answer(_ key: CacheKey, _ stale: Staleness?, _ now: UnixTime) -> Answer {
        let flight = downloads[key]
        // A caller that arrives during a retry waits for it, unless a stale entry will do.
        let remembered =
            flight == nil ? failures.answer(for: key, now: now, longest: retry.longestPause) : nil
        guard let facts = catalog.facts(of: key) else {
            return remembered.map { .failure($0) } ?? .ask
        }
        guard let end = facts.freshUntil, end <= now || facts.fetchedAt > now else { return .hit }
        switch stale?.reuse ?? .mustRevalidate {
        case .fresh: return .hit
        case .staleWhileRevalidating: return remembered == nil ? .hitAndRevalidate : .hit
        case .mustRevalidate:
            guard let failure = remembered ?? flight?.failure else { return .ask }
            if failure.letsStaleServe, stale?.outlivesFailure == true { return .staleHit }
            return remembered.map { .failure($0) } ?? .ask
        }
    }

    /// Asks the origin about an entry with nobody waiting, unless a download is under way or too many are
    /// detached; then the next hit does.
    private mutating func revalidate(_ key: CacheKey, _ url: CacheURL, _ effects: inout Effects) {
        guard !downloads.contains(key), !isDraining, waiters.detached.admits(1) else { return }
        join(key, url, &effects)
        detach(key, FetchOptions(priority: .background))
        startQueued(&effects)
    }
}

extension FlowKey {
    /// The flow in which a caller waits for a download.
    package init(_ waiter: Waiter, _ origin: Origin) {
        self.init(priority: waiter.priority, client: waiter.client, origin: origin)
    }

    /// The flow in which the daemon itself waits.
    package init(_ detached: Flight.Detached, _ origin: Origin) {
        self.init(priority: detached.priority, client: detached.client, origin: origin)
    }
}

extension Failure {
    package static let shuttingDown = Failure(
        .shuttingDown, "the daemon is shutting down; ask again once it is back")
}
