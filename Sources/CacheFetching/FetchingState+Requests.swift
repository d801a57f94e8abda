import CacheDisk
package import CacheKey
package import CacheValues

/// Callers: their requests, the answers that need no download, and the end of their wait.
extension FetchingState {
    /// A caller begins a request. It names its images with ``requested(_:_:by:_:stale:now:_:)``,
    /// then calls ``waiterNamed(_:_:)``.
    package mutating func waiterBegan(_ options: FetchOptions = FetchOptions()) -> WaiterID {
        let id = WaiterID(rawValue: nextID())
        waiters.insert(id, options)
        return id
    }

    /// A caller requests an image. Its name has been looked up, so the disk half vouches for it.
    ///
    /// - Parameters:
    ///   - waiter: `nil` if the download continues without a caller.
    ///   - name: the URL that names the image. `nil` if that is the URL to download from.
    ///   - fields: the header fields of an account.
    ///   - also: other URLs of the image, each to be asked when the one before it has failed for good.
    ///   - stale: how a stale entry can be used. `nil` if the entry is not stale.
    package mutating func requested(
        _ key: CacheKey, _ url: CacheURL, by waiter: WaiterID?, _ options: FetchOptions,
        name: CacheURL? = nil, fields: [RequestField] = [], also: [CacheURL] = [],
        stale: Staleness? = nil, now: FileTime, _ effects: inout Effects
    ) {
        let name = name ?? url
        // Showing a derived image is no use of its original.
        if waiter.flatMap({ waiters[$0]?.variant }) == nil { disk.used(key, at: now) }
        // Another token may be the right one.
        if !fields.isEmpty, failures[key]?.isRefusal == true { failures.forget(key) }
        if options.isRefresh {
            failures.forget(key)
            if let waiter { waiters.update(waiter) { $0.isRefresh = true } }
        } else if settleFromPredecessor(key, from: options.predecessors, by: waiter) {
            counters.hits += 1
            return
        } else if let digest = options.digest, name.side == nil, mayAdopt(key, digest) {
            insertFlight(key, url, name, fields, asksStore: false)
            downloads.update(key) { $0.knows(also) }
            return adopt(key, digest, for: waiter, options, &effects)
        } else if answerIfPossible(
            key, url, name, fields, also, by: waiter, for: options.client, stale,
            now: now.wallTime, &effects)
        {
            return
        }
        counters.misses += 1
        guard !isDraining else {
            if let waiter { waiters.update(waiter) { $0.failures[key] = .shuttingDown } }
            return
        }
        let isRenewed = join(key, url, name, fields, also, asksStore: !options.isRefresh, &effects)
        if let waiter { wait(waiter, for: key) } else { detach(key, options) }
        urgencyChanged(key, &effects)
        if options.isRefresh || isRenewed, downloads[key]?.phase == .retrying {
            // The callers that already wait keep their remaining attempts.
            downloads.update(key) { $0.grantExtraAttempt() }
            queueAgain(key)
            changed(key, &effects)
        }
        startQueued(&effects)
    }

    /// A caller requests images without waiting. Returns `false`, and does nothing, unless all are cached and fresh, and
    /// their files have their URLs.
    package mutating func requestedHits(
        _ keys: some Collection<CacheKey>, now: FileTime
    ) -> Bool {
        let areHits = keys.allSatisfy { key in
            guard let facts = disk.facts(of: key), !disk.needsProbe(key) else { return false }
            return !facts.isStale(at: now.wallTime) && !facts.awaitsAttributes
        }
        guard areHits, !isDraining else { return false }
        for key in keys { disk.used(key, at: now) }
        counters.hits += keys.count
        return true
    }

    /// These images fail for a caller.
    package mutating func refused(
        _ keys: some Sequence<CacheKey>, by id: WaiterID, _ failure: Failure
    ) {
        waiters.update(id) { waiter in
            for key in keys { waiter.failures[key] = failure }
        }
    }

    /// The caller has named all of its images.
    package mutating func waiterNamed(_ id: WaiterID, _ effects: inout Effects) {
        preemptTransfers(&effects)
        waiters.update(id) { $0.isComplete = true }
        finishIfSettled(id, &effects)
        if waiters.setDeadline(id) { effects.work.append(.planRetry) }
    }

    // MARK: Leaving

    /// Another caller replaces this one, or it is about to name other images. It gets no outcome
    /// until ``waiterNamed(_:_:)``. The images it was given stay known until it leaves.
    ///
    /// - Returns: `false` if the caller has had its outcome.
    @discardableResult
    package mutating func waiterReplaced(_ id: WaiterID) -> Bool {
        waiters.update(id) { $0.isComplete = false } != nil
    }

    /// The caller no longer wants these images, and waits for its others.
    package mutating func waiterDropped(
        _ id: WaiterID, _ keys: ArraySlice<CacheKey>, _ effects: inout Effects
    ) {
        waiterLeft(id, keys, ifQueued: true, &effects)
        waiterLeft(id, keys, &effects)
        waiters.forget(id, keys)
        startTransfers(&effects)
    }

    /// The caller was notified, or leaves.
    ///
    /// - Returns: the images that it was given, if they are more than `limit`. ``released(_:)`` follows for them, in
    ///   several steps.
    package mutating func waiterReported(_ id: WaiterID, limit: Int) -> Set<CacheKey> {
        let keys = waiters.takeGiven(id)
        guard keys.count <= limit else { return keys }
        keys.forEach { waiters.release($0) }
        return []
    }

    /// A caller that was given these images was notified, or leaves.
    package mutating func released(_ keys: ArraySlice<CacheKey>) {
        keys.forEach { waiters.release($0) }
    }

    /// The caller leaves and gets no outcome.
    ///
    /// ``waiterLeft(_:_:ifQueued:_:)`` follows for all pending keys, then ``waiterFinishesLeaving(_:_:)``. The
    /// steps are separate because a caller can wait for very many images.
    ///
    /// - Returns: the keys for which the caller waits.
    package mutating func waiterBeginsLeaving(_ id: WaiterID) -> [CacheKey] {
        waiterReplaced(id)
        return Array(waiters[id]?.pending ?? [])
    }

    /// The caller no longer waits for these images. A download stops if no other caller waits for it.
    ///
    /// - Parameter ifQueued: whether to handle queued downloads only. They are handled first, so
    ///   that no download starts that is about to stop.
    package mutating func waiterLeft(
        _ id: WaiterID, _ keys: ArraySlice<CacheKey>, ifQueued: Bool = false,
        _ effects: inout Effects
    ) {
        for key in keys where !ifQueued || downloads[key]?.isQueued == true {
            guard let waiter = waiters[id], waiters.stopWaiting(id, for: key) else { continue }
            if let flight = downloads[key], flight.isQueued {
                scheduler.dequeue(Ticket(key: key, waiter: id), FlowKey(waiter, flight.origin))
            }
            downloads.update(key) { $0.waiters.remove(id) }
            stopIfUnwanted(key, &effects)
            if downloads[key]?.awaitsOriginal == true { urgencyChanged(key, &effects) }
            if let flight = downloads[key], flight.hasSlot {
                scheduler.mayBePrefetch(flight.id)
            }
        }
    }

    package mutating func waiterFinishesLeaving(_ id: WaiterID, _ effects: inout Effects) {
        waiters.remove(id)
        startTransfers(&effects)
    }

    /// Removes a caller and all its waits in one step.
    package mutating func waiterLeft(_ id: WaiterID, _ effects: inout Effects) {
        let keys = waiterBeginsLeaving(id)[...]
        waiterLeft(id, keys, ifQueued: true, &effects)
        waiterLeft(id, keys, &effects)
        waiterFinishesLeaving(id, &effects)
    }

    /// Time has passed: what has not come fails for the callers whose time is over.
    package mutating func deadlinesPassed(
        now: ContinuousClock.Instant, _ effects: inout Effects
    ) {
        while let id = waiters.takeOverdue(now: now) { waitEnded(id, &effects) }
    }

    private mutating func waitEnded(_ id: WaiterID, _ effects: inout Effects) {
        guard let keys = waiters[id].map({ Array($0.pending) }), !keys.isEmpty else { return }
        waiterLeft(id, keys[...], ifQueued: true, &effects)
        waiterLeft(id, keys[...], &effects)
        refused(keys, by: id, .deadline)
        finishIfSettled(id, &effects)
    }

    // MARK: Settling

    /// Reports the end of a download to these callers. Each caller gets one report.
    ///
    /// - Parameter failure: `nil` if the image is cached.
    package mutating func settle(
        _ key: CacheKey, _ callers: Set<WaiterID>, _ failure: Failure?, _ effects: inout Effects
    ) {
        for id in callers {
            waiters.settle(id, key, failure)
            finishIfSettled(id, &effects)
        }
    }

    private mutating func finishIfSettled(_ id: WaiterID, _ effects: inout Effects) {
        let variant = waiters[id]?.variant
        guard let outcome = waiters.takeOutcome(id) else { return }
        guard let variant else { return effects.notices.append(.finish(outcome)) }
        originalSettled(for: variant, outcome, &effects)
    }

    /// Whether this caller, or one that it replaces, was already given the image, and the entry
    /// still exists. A caller that names an image again while it waits for it continues to wait.
    ///
    ///     client      sends Fetch 1 of a.png             waiter 1 waits for its download
    ///     client      sends Fetch 2 of a.png and b.png   before it has read a reply
    ///     download    a.png is published, with no-store  waiter 1 is given it; other callers miss
    ///     event loop  Fetch 2 begins                     waiter 2 succeeds waiter 1, and is given a.png
    ///     event loop  Fetch 1 is released                waiter 1 leaves; what it was given is forgotten
    ///
    /// As a caller of its own, waiter 2 would have a.png downloaded again, and so would every Fetch
    /// that replaces another one.
    private mutating func settleFromPredecessor(
        _ key: CacheKey, from former: [WaiterID], by id: WaiterID?
    ) -> Bool {
        guard let id, disk.contains(key), waiters[id]?.pending.contains(key) == false,
            waiters.has(id, key) || former.contains(where: { waiters.has($0, key) })
        else { return false }
        waiters.settle(id, key, nil)
        return true
    }

    // MARK: Joining

    /// Joins the download of `key`, or queues a new one.
    ///
    /// - Parameter asksStore: whether a new download asks the store first, if there is one.
    /// - Returns: whether the download has another source to try.
    @discardableResult
    private mutating func join(
        _ key: CacheKey, _ url: CacheURL, _ name: CacheURL, _ fields: [RequestField],
        _ also: [CacheURL], asksStore: Bool, _ effects: inout Effects
    ) -> Bool {
        defer { if !also.isEmpty { downloads.update(key) { $0.knows(also) } } }
        guard let flight = downloads[key] else {
            insertFlight(key, url, name, fields, asksStore: asksStore)
            changed(key, &effects)
            return false
        }
        let isRenewed =
            flight.url != url && !flight.hasTried(url)
            || !fields.isEmpty && flight.fields != fields
        if isRenewed { renew(key, flight, url, fields) }
        counters.joined += 1
        // If the image was removed during its publication, this request cancels the removal.
        downloads.update(key) { $0.setRemovalPending(false) }
        return isRenewed
    }

    private mutating func insertFlight(
        _ key: CacheKey, _ url: CacheURL, _ name: CacheURL, _ fields: [RequestField],
        asksStore: Bool
    ) {
        let id = FlightID(rawValue: nextID())
        var flight = Flight(id: id, url: url, name: name, fields: fields)
        if isDerivedHere(key, name, fields) {
            flight.awaitsItsOriginal()
            variants[CacheKey(name.source), default: []].insert(key)
        } else if asksStore, mayBeInStore(key, flight) {
            flight.willAskStore()
        }
        downloads.insert(key, flight)
    }

    /// A caller gave another URL of an image that is being downloaded, or other fields. They are tried next, because older
    /// ones may have expired.
    private mutating func renew(
        _ key: CacheKey, _ flight: Flight, _ url: CacheURL, _ fields: [RequestField]
    ) {
        let isQueued = flight.isQueued
        // Its tickets are in the flow of the origin.
        if isQueued { dequeue(key, flight) }
        downloads.update(key) { $0.renews(url, fields) }
        if isQueued { enqueue(key) }
    }

    mutating func wait(_ id: WaiterID, for key: CacheKey) {
        downloads.update(key) { $0.waiters.insert(id) }
        waiters.wait(id, for: key)
        guard let flight = downloads[key], flight.isQueued, let waiter = waiters[id] else {
            return
        }
        scheduler.enqueue(Ticket(key: key, waiter: id), FlowKey(waiter, flight.origin))
    }

    // MARK: Answers without a download

    private enum Answer {
        case hit
        /// A hit. The origin is asked in the background.
        case hitAndRevalidate
        /// A hit with a stale entry, because the origin failed recently.
        case staleHit
        case failure(Failure)
        /// The origin has to be asked before the cache can answer.
        case ask
    }

    /// Answers a request from an entry or a remembered failure. `false` if the origin has to be
    /// asked first.
    private mutating func answerIfPossible(
        _ key: CacheKey, _ url: CacheURL, _ name: CacheURL, _ fields: [RequestField],
        _ also: [CacheURL], by id: WaiterID?, for client: ClientID,
        _ stale: Staleness?, now: UnixTime, _ effects: inout Effects
    ) -> Bool {
        switch answer(key, url, last: also.last ?? url, stale, now) {
        case .ask: return false
        case .hit:
            if disk.facts(of: key)?.awaitsAttributes == true {
                effects.work.append(.complete(key, url, name))
            }
        case .hitAndRevalidate: revalidate(key, url, name, fields, also, for: client, &effects)
        case .staleHit: counters.staleAnswers += 1
        case .failure(let failure):
            counters.misses += 1
            counters.failuresRepeated += 1
            if let id { waiters.update(id) { $0.failures[key] = failure } }
            return true
        }
        counters.hits += 1
        if let id { waiters.give(id, key) }
        return true
    }

    /// - Parameter last: the URL that is asked when all others have failed.
    private func answer(
        _ key: CacheKey, _ url: CacheURL, last: CacheURL, _ stale: Staleness?, _ now: UnixTime
    ) -> Answer {
        let flight = downloads[key]
        // A caller that arrives during the pause before a retry waits for the retry, unless it can
        // use a stale entry.
        let remembered =
            flight == nil
            ? failures.answer(for: key, from: last, now: now, longest: retry.longestPause) : nil
        guard let facts = disk.facts(of: key) else {
            return remembered.map { .failure($0) } ?? .ask
        }
        guard facts.isStale(at: now) else { return .hit }
        switch stale?.reuse ?? .mustRevalidate {
        case .fresh: return .hit
        case .staleWhileRevalidating: return remembered == nil ? .hitAndRevalidate : .hit
        case .mustRevalidate:
            let failure =
                remembered ?? flight?.failure
                ?? scheduler.refusal(of: Origin(url))
            guard let failure else { return .ask }
            if failure.allowsStaleIfError, stale?.allowsStaleIfError == true { return .staleHit }
            return remembered.map { .failure($0) } ?? .ask
        }
    }

    /// Asks the origin about an entry in the background. Does nothing if a download of the key is
    /// running or the detached quota is full. The next hit then asks again.
    private mutating func revalidate(
        _ key: CacheKey, _ url: CacheURL, _ name: CacheURL, _ fields: [RequestField],
        _ also: [CacheURL], for client: ClientID, _ effects: inout Effects
    ) {
        guard !downloads.contains(key), !isDraining, waiters.detached.admits(1, of: client.user)
        else { return }
        join(key, url, name, fields, also, asksStore: true, &effects)
        detach(key, FetchOptions(priority: .background, client: client))
        urgencyChanged(key, &effects)
        startQueued(&effects)
    }
}

extension FlowKey {
    /// The flow in which this caller waits for a download.
    package init(_ waiter: Waiter, _ origin: Origin) {
        self.init(priority: waiter.priority, client: waiter.client, origin: origin)
    }

    /// The flow in which the daemon itself waits for a download.
    package init(_ detached: Flight.Detached, _ origin: Origin) {
        self.init(priority: detached.priority, client: detached.client, origin: origin)
    }
}

extension Failure {
    /// Whether the origin refuses this account (RFC 9110 §15.5.2, §15.5.4).
    fileprivate var isRefusal: Bool { httpStatus == 401 || httpStatus == 403 }

    /// The caller's own time is over.
    package static let deadline = Failure(
        .deadline,
        "the image did not come within the time that the call gave; ask again, or give more")

    package static let shuttingDown = Failure(
        .shuttingDown, "the daemon is shutting down; ask again once it is back")
}
