internal import CacheKey

/// Callers: what they want, and when they leave.
extension CacheState {
    /// A caller comes; name its wishes with ``wanted(_:_:by:_:now:)``, then ``interestNamed(_:)``.
    mutating func interestBegan() -> InterestID {
        let id = InterestID(rawValue: nextID())
        interests[id] = Interest()
        return id
    }

    /// A caller, or with `nil` the daemon itself, wants an image. Its name has been looked up, so the
    /// index is right about it.
    mutating func wanted(
        _ key: CacheKey, _ url: CacheURL, by interest: InterestID?, _ options: FetchOptions,
        now: FileTime
    ) -> [Effect] {
        used(key, at: now)
        if !options.isRefresh, index.contains(key) {
            counters.hits += 1
            return []
        }
        counters.misses += 1
        guard !isDraining else {
            if let interest { interests[interest]?.failures[key] = .shuttingDown }
            return []
        }
        var effects = join(key, url, options.priority)
        if let interest {
            flights[key]?.interests.insert(interest)
            interests[interest]?.pending.insert(key)
        } else {
            flights[key]?.isHeld = true
        }
        effects += startTransfers()
        return effects
    }

    /// The caller has named all it wants.
    mutating func interestNamed(_ id: InterestID) -> [Effect] {
        interests[id]?.isComplete = true
        return finishIfDecided(id)
    }

    /// The caller is gone or no longer interested. What nobody else waits for stops.
    mutating func interestLeft(_ id: InterestID) -> [Effect] {
        guard let interest = interests.removeValue(forKey: id) else { return [] }
        var effects: [Effect] = []
        for key in interest.pending {
            flights[key]?.interests.remove(id)
            effects += stopIfUnwanted(key)
        }
        return effects + startTransfers()
    }

    /// Tells every caller waiting for `key` how it ended, each once.
    mutating func decide(_ key: CacheKey, for waiting: Set<InterestID>, _ failure: Failure?)
        -> [Effect]
    {
        var effects: [Effect] = []
        for id in waiting {
            interests[id]?.pending.remove(key)
            if let failure { interests[id]?.failures[key] = failure }
            effects += finishIfDecided(id)
        }
        return effects
    }

    private mutating func finishIfDecided(_ id: InterestID) -> [Effect] {
        guard let interest = interests[id], interest.isComplete, interest.pending.isEmpty else {
            return []
        }
        interests[id] = nil
        return [.finish(Outcome(interest: id, failures: interest.failures))]
    }

    /// Joins the download of `key`, or queues one.
    private mutating func join(_ key: CacheKey, _ url: CacheURL, _ priority: Priority) -> [Effect] {
        guard let flight = flights[key] else {
            let id = FlightID(rawValue: nextID())
            flights[key] = Flight(id: id, url: url, priority: priority)
            queue.append(key, id, priority)
            return changed(key)
        }
        counters.joined += 1
        // Removed while being published, and wanted again: it may stay.
        flights[key]?.isUnwanted = false
        if priority > flight.priority {
            flights[key]?.priority = priority
            if flight.phase == .queued { queue.append(key, flight.id, priority) }
        }
        return []
    }
}

/// How a caller wants its images.
public struct FetchOptions: Sendable {
    public var priority: Priority
    /// Ask the origin even for what is cached.
    public var isRefresh: Bool

    public init(priority: Priority = .normal, isRefresh: Bool = false) {
        self.priority = priority
        self.isRefresh = isRefresh
    }
}

extension Failure {
    static let shuttingDown = Failure(
        .shuttingDown, "the daemon is shutting down; ask again once it is back")
}
