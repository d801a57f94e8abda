internal import CacheKey

/// Callers: what they want, and when they leave.
extension CacheState {
    /// A caller comes; name its wishes with ``wanted(_:_:by:_:now:)``, then ``interestNamed(_:)``.
    mutating func interestBegan(_ options: FetchOptions = FetchOptions()) -> InterestID {
        let id = InterestID(rawValue: nextID())
        interests[id] = Interest(client: options.client, priority: options.priority)
        return id
    }

    /// A caller, or with `nil` the daemon itself, wants an image. Its name has been looked up, so the
    /// index is right about it.
    ///
    /// - Parameter stale: what may be done with the entry, where it was found to be stale.
    mutating func wanted(
        _ key: CacheKey, _ url: CacheURL, by interest: InterestID?, _ options: FetchOptions,
        stale: Staleness? = nil, now: FileTime
    ) -> [Effect] {
        used(key, at: now)
        if options.isRefresh {
            failures.forget(key)
            if let interest { interests[interest]?.isRefresh = true }
        } else if isHandedOn(key, from: options.predecessor, to: interest) {
            counters.hits += 1
            return []
        } else if let effects = answered(key, url, by: interest, stale, now: now.wallTime) {
            if let interest {
                interests.update(interest) {
                    if $0.failures[key] == nil { $0.delivered.insert(key) }
                }
            }
            return effects
        }
        counters.misses += 1
        guard !isDraining else {
            if let interest { interests[interest]?.failures[key] = .shuttingDown }
            return []
        }
        var effects = join(key, url)
        if let interest { wait(for: key, interest) } else { hold(key, options) }
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
    mutating func refused(_ keys: some Sequence<CacheKey>, by id: InterestID, _ why: Failure) {
        for key in keys { interests[id]?.failures[key] = why }
    }

    /// The caller has named all it wants.
    mutating func interestNamed(_ id: InterestID) -> [Effect] {
        let made = prefetchesGiveWay()
        interests[id]?.isComplete = true
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
    mutating func interestKept(_ id: InterestID) {
        interests[id]?.isComplete = false
    }

    /// The caller is gone or no longer interested. What nobody else waits for stops.
    mutating func interestLeft(_ id: InterestID) -> [Effect] {
        let keys = interestLeaves(id)[...]
        return interestLeft(id, keys, ifQueued: true) + interestLeft(id, keys) + interestGone(id)
    }

    /// The same in steps, for a caller that waits for very much: it will hear of nothing any more. What
    /// it waits for.
    mutating func interestLeaves(_ id: InterestID) -> [CacheKey] {
        interests[id]?.isComplete = false
        return Array(interests[id]?.pending ?? [])
    }

    /// Some of that is given up.
    ///
    /// - Parameter ifQueued: only what is queued. That comes first, so that nothing starts that is to stop.
    mutating func interestLeft(
        _ id: InterestID, _ keys: ArraySlice<CacheKey>, ifQueued: Bool = false
    ) -> [Effect] {
        var effects: [Effect] = []
        for key in keys where !ifQueued || flights[key]?.phase == .queued {
            guard interests[id]?.pending.remove(key) != nil else { continue }
            if let flight = flights[key], flight.phase == .queued, let interest = interests[id] {
                let lane = TransferQueue.Lane(interest, flight)
                queue.remove(TransferQueue.Place(key: key, interest: id), lane, slots)
            }
            flights[key]?.interests.remove(id)
            effects += stopIfUnwanted(key)
            if let flight = flights[key], flight.phase.isRunning {
                prefetches.insert(key, flight.origin)
            }
        }
        return effects
    }

    mutating func interestGone(_ id: InterestID) -> [Effect] {
        interests[id] = nil
        return startTransfers()
    }

    /// Tells every caller waiting for `key` how it ended, each once.
    mutating func decide(_ key: CacheKey, for waiting: Set<InterestID>, _ failure: Failure?)
        -> [Effect]
    {
        let isNobodyElses = failure == nil && isNobodyElses(key)
        var effects: [Effect] = []
        for id in waiting {
            interests.update(id) { interest in
                interest.pending.remove(key)
                if let failure {
                    interest.failures[key] = failure
                } else {
                    interest.delivered.insert(key)
                    if isNobodyElses { interest.handedOver.insert(key) }
                }
            }
            effects += finishIfDecided(id)
        }
        return effects
    }

    /// Whether an image is an answer to none but those who waited for it.
    private func isNobodyElses(_ key: CacheKey) -> Bool {
        if handedOver[key] != nil { return true }
        guard let facts = index.facts(of: key), let end = facts.freshUntil else { return false }
        return end <= facts.fetchedAt
    }

    /// Whether a caller has an image already, or the one whose place it takes has, and it is still there.
    private mutating func isHandedOn(
        _ key: CacheKey, from former: InterestID?, to id: InterestID?
    ) -> Bool {
        guard let id, has(key, id) || former.map({ has(key, $0) }) == true, index.contains(key)
        else { return false }
        let isNobodyElses = isNobodyElses(key)
        interests.update(id) { interest in
            interest.delivered.insert(key)
            if isNobodyElses { interest.handedOver.insert(key) }
        }
        return true
    }

    private func has(_ key: CacheKey, _ id: InterestID) -> Bool {
        interests[id]?.delivered.contains(key) == true
    }

    private mutating func finishIfDecided(_ id: InterestID) -> [Effect] {
        guard let interest = interests[id], interest.isComplete, interest.pending.isEmpty else {
            return []
        }
        interests[id] = nil
        return [.finish(Outcome(interest: id, failures: interest.failures))]
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

    private mutating func wait(for key: CacheKey, _ id: InterestID) {
        flights.update(key) { $0.interests.insert(id) }
        interests.update(id) { $0.pending.insert(key) }
        guard let flight = flights[key], flight.phase == .queued, let interest = interests[id]
        else {
            return
        }
        queue.append(
            TransferQueue.Place(key: key, interest: id), TransferQueue.Lane(interest, flight))
    }

    /// The daemon itself waits from now on; for the more urgent reason if for two.
    mutating func hold(_ key: CacheKey, _ options: FetchOptions) {
        guard let flight = flights[key] else { return }
        guard !flight.isHeld || options.priority > flight.heldPriority else { return }
        let place = TransferQueue.Place(key: key, interest: nil)
        if flight.isHeld { queue.remove(place, TransferQueue.Lane(held: flight), slots) }
        setHeld(key, true)
        flights[key]?.heldPriority = options.priority
        flights[key]?.heldClient = options.client
        guard let held = flights[key], held.phase == .queued else { return }
        queue.append(place, TransferQueue.Lane(held: held))
    }

    /// Whether the daemon itself waits for a download.
    mutating func setHeld(_ key: CacheKey, _ isHeld: Bool) {
        guard let flight = flights[key], flight.isHeld != isHeld else { return }
        flights[key]?.isHeld = isHeld
        if isHeld { holds.add() } else { holds.remove() }
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
    public var predecessor: InterestID?

    public init(
        priority: Priority = .normal, isRefresh: Bool = false, client: ClientID = .daemon,
        predecessor: InterestID? = nil
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
