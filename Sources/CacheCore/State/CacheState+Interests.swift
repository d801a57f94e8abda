internal import CacheKey

/// Callers: what they want, and when they leave.
extension CacheState {
    /// A caller comes; name its wishes with ``wanted(_:_:by:_:now:)``, then ``waiterNamed(_:)``.
    mutating func waiterBegan(_ options: FetchOptions = FetchOptions()) -> WaiterID {
        let id = WaiterID(rawValue: nextID())
        waiters[id] = Waiter(client: options.client, priority: options.priority)
        return id
    }

    /// A caller, or with `nil` the daemon itself, wants an image. Its name has been looked up, so the
    /// index is right about it.
    ///
    /// - Parameter stale: what may be done with the entry, where it was found to be stale.
    mutating func wanted(
        _ key: CacheKey, _ url: CacheURL, by waiter: WaiterID?, _ options: FetchOptions,
        stale: Staleness? = nil, now: FileTime
    ) -> [Effect] {
        used(key, at: now)
        if options.isRefresh {
            failures.forget(key)
            if let waiter { waiters[waiter]?.isRefresh = true }
        } else if isHandedOn(key, from: options.predecessor, to: waiter) {
            counters.hits += 1
            return []
        } else if let effects = answered(key, url, by: waiter, stale, now: now.wallTime) {
            if let waiter {
                waiters.update(waiter) {
                    if $0.failures[key] == nil { $0.delivered.insert(key) }
                }
            }
            return effects
        }
        counters.misses += 1
        guard !isDraining else {
            if let waiter { waiters[waiter]?.failures[key] = .shuttingDown }
            return []
        }
        var effects = join(key, url)
        if let waiter { wait(for: key, waiter) } else { hold(key, options) }
        if options.isRefresh, flights[key]?.phase == .retrying {
            // Those who wait already have as many attempts left as before.
            flights[key]?.attempts -= 1
            queueAgain(key)
            effects += changed(key)
        }
        effects += startQueued()
        return effects
    }

    /// A caller can't have what it wants.
    mutating func refused(_ keys: some Sequence<CacheKey>, by id: WaiterID, _ why: Failure) {
        for key in keys { waiters[id]?.failures[key] = why }
    }

    /// The caller has named all it wants.
    mutating func waiterNamed(_ id: WaiterID) -> [Effect] {
        let made = prefetchesGiveWay()
        waiters[id]?.isComplete = true
        return made + finishIfDecided(id)
    }

    /// A caller that will not wait is about to name so many wishes, which the daemon holds from then on;
    /// `false` if that may be more than it does. Else it ends with ``holdsNamed(_:)``.
    mutating func holdsAsked(_ wishes: Int) -> Bool {
        guard holds.hasRoom(for: wishes) else { return false }
        holds.promise(wishes)
        return true
    }

    /// The caller has named them.
    mutating func holdsNamed(_ wishes: Int) -> [Effect] {
        holds.keep(wishes)
        return prefetchesGiveWay()
    }

    /// Another takes the place of a caller, who will hear of nothing any more: what it has stays known until
    /// it leaves.
    mutating func waiterReplaced(_ id: WaiterID) {
        waiters[id]?.isComplete = false
    }

    /// The caller is gone or no longer interested. What nobody else waits for stops.
    mutating func waiterLeft(_ id: WaiterID) -> [Effect] {
        let keys = waiterLeaves(id)[...]
        return waiterLeft(id, keys, ifQueued: true) + waiterLeft(id, keys) + waiterGone(id)
    }

    /// The same in steps, for a caller that waits for very much: it will hear of nothing any more. What
    /// it waits for.
    mutating func waiterLeaves(_ id: WaiterID) -> [CacheKey] {
        waiters[id]?.isComplete = false
        return Array(waiters[id]?.pending ?? [])
    }

    /// Some of that is given up.
    ///
    /// - Parameter ifQueued: only what is queued. That comes first, so that nothing starts that is to stop.
    mutating func waiterLeft(
        _ id: WaiterID, _ keys: ArraySlice<CacheKey>, ifQueued: Bool = false
    ) -> [Effect] {
        var effects: [Effect] = []
        for key in keys where !ifQueued || flights[key]?.phase == .queued {
            guard waiters[id]?.pending.remove(key) != nil else { continue }
            if let flight = flights[key], flight.phase == .queued, let waiter = waiters[id] {
                let lane = TransferQueue.FlowKey(waiter, flight)
                queue.remove(TransferQueue.Place(key: key, waiter: id), lane, slots)
            }
            flights[key]?.waiters.remove(id)
            effects += stopIfUnwanted(key)
            if let flight = flights[key], flight.phase.isRunning {
                prefetches.insert(key, flight.origin)
            }
        }
        return effects
    }

    mutating func waiterGone(_ id: WaiterID) -> [Effect] {
        waiters[id] = nil
        return startTransfers()
    }

    /// Tells every caller waiting for `key` how it ended, each once.
    mutating func decide(_ key: CacheKey, for waiting: Set<WaiterID>, _ failure: Failure?)
        -> [Effect]
    {
        let isNobodyElses = failure == nil && isNobodyElses(key)
        var effects: [Effect] = []
        for id in waiting {
            waiters.update(id) { waiter in
                waiter.pending.remove(key)
                if let failure {
                    waiter.failures[key] = failure
                } else {
                    waiter.delivered.insert(key)
                    if isNobodyElses { waiter.noStoreGrace.insert(key) }
                }
            }
            effects += finishIfDecided(id)
        }
        return effects
    }

    /// Whether an image is an answer to none but those who waited for it.
    private func isNobodyElses(_ key: CacheKey) -> Bool {
        if noStoreGrace[key] != nil { return true }
        guard let facts = index.facts(of: key), let end = facts.freshUntil else { return false }
        return end <= facts.fetchedAt
    }

    /// Whether a caller has an image already, or the one whose place it takes has, and it is still there.
    private mutating func isHandedOn(
        _ key: CacheKey, from former: WaiterID?, to id: WaiterID?
    ) -> Bool {
        guard let id, has(key, id) || former.map({ has(key, $0) }) == true, index.contains(key)
        else { return false }
        let isNobodyElses = isNobodyElses(key)
        waiters.update(id) { waiter in
            waiter.delivered.insert(key)
            if isNobodyElses { waiter.noStoreGrace.insert(key) }
        }
        return true
    }

    private func has(_ key: CacheKey, _ id: WaiterID) -> Bool {
        waiters[id]?.delivered.contains(key) == true
    }

    private mutating func finishIfDecided(_ id: WaiterID) -> [Effect] {
        guard let waiter = waiters[id], waiter.isComplete, waiter.pending.isEmpty else {
            return []
        }
        waiters[id] = nil
        return [.finish(Outcome(waiter: id, failures: waiter.failures))]
    }

    /// Joins the download of `key`, or queues one.
    mutating func join(_ key: CacheKey, _ url: CacheURL) -> [Effect] {
        guard flights.contains(key) else {
            flights[key] = Flight(id: FlightID(rawValue: nextID()), url: url)
            return changed(key)
        }
        counters.joined += 1
        // Removed while being published, and wanted again: it may stay.
        flights[key]?.isUnwanted = false
        return []
    }

    private mutating func wait(for key: CacheKey, _ id: WaiterID) {
        flights.update(key) { $0.waiters.insert(id) }
        waiters.update(id) { $0.pending.insert(key) }
        guard let flight = flights[key], flight.phase == .queued, let waiter = waiters[id]
        else {
            return
        }
        queue.append(
            TransferQueue.Place(key: key, waiter: id), TransferQueue.FlowKey(waiter, flight))
    }

    /// The daemon itself waits from now on; for the more urgent reason if for two.
    mutating func hold(_ key: CacheKey, _ options: FetchOptions) {
        guard let flight = flights[key] else { return }
        guard !flight.isDetached || options.priority > flight.detachedPriority else { return }
        let place = TransferQueue.Place(key: key, waiter: nil)
        if flight.isDetached { queue.remove(place, TransferQueue.FlowKey(held: flight), slots) }
        setHeld(key, true)
        flights[key]?.detachedPriority = options.priority
        flights[key]?.detachedClient = options.client
        guard let held = flights[key], held.phase == .queued else { return }
        queue.append(place, TransferQueue.FlowKey(held: held))
    }

    /// Whether the daemon itself waits for a download.
    mutating func setHeld(_ key: CacheKey, _ isDetached: Bool) {
        guard let flight = flights[key], flight.isDetached != isDetached else { return }
        flights[key]?.isDetached = isDetached
        if isDetached { holds.add() } else { holds.remove() }
    }
}

/// How a caller wants its images.
public struct FetchOptions: Sendable {
    public var priority: Priority
    /// Ask the origin even for what is cached.
    public var isRefresh: Bool
    /// On whose behalf; those of one priority take turns.
    public var client: ClientID
    /// Whose place this caller takes: what that one waited for and has is not asked about again.
    public var predecessor: WaiterID?

    public init(
        priority: Priority = .normal, isRefresh: Bool = false, client: ClientID = .daemon,
        predecessor: WaiterID? = nil
    ) {
        self.priority = priority
        self.isRefresh = isRefresh
        self.client = client
        self.predecessor = predecessor
    }
}

extension Failure {
    static let shuttingDown = Failure(
        .shuttingDown, "the daemon is shutting down; ask again once it is back")
}
