package import CacheKey
package import CacheValues

/// The callers that wait for downloads, and the number of downloads for which only the daemon waits.
///
/// Invariants: every pending key has a download, and that download lists the waiter. An image is counted as given once
/// for each caller that was given it and has not been notified.
package struct Waiters: Sendable {
    private var waiters: [WaiterID: Waiter] = [:]
    /// The downloads that continue without a caller.
    package var detached: DetachedDownloads
    /// The images that the callers of each user wait for.
    package private(set) var interests = Tally<UserID>()

    /// The number of callers that were given each image and have not been notified.
    private var given = Tally<CacheKey>()
    /// The images of callers that have had their outcomes and pass them on.
    private var reporting: [WaiterID: Set<CacheKey>] = [:]
    /// When the callers that gave a time wait no longer.
    private var deadlines = Schedule<WaiterID>()

    package init(detachedLimit: Int) { detached = DetachedDownloads(limit: detachedLimit) }

    package subscript(id: WaiterID) -> Waiter? { waiters[id] }

    package var all: some Collection<(key: WaiterID, value: Waiter)> { waiters }

    /// A caller begins a request, and names its images next.
    package mutating func insert(_ id: WaiterID, _ options: FetchOptions) {
        waiters[id] = Waiter(options)
    }

    package mutating func remove(_ id: WaiterID) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        interests.remove(waiter.pending.count, from: waiter.client.user)
        for key in waiter.delivered { release(key) }
    }

    @discardableResult
    package mutating func update<Result>(_ id: WaiterID, _ change: (inout Waiter) -> Result)
        -> Result?
    {
        waiters.update(id, change)
    }

    /// The caller waits for the download of an image.
    package mutating func wait(_ id: WaiterID, for key: CacheKey) {
        let isNew = waiters.update(id) { waiter in
            (user: waiter.client.user, count: waiter.pending.insert(key).inserted ? 1 : 0)
        }
        if let isNew { interests.add(isNew.count, to: isNew.user) }
    }

    /// The caller no longer waits for the download. Returns whether it did.
    package mutating func stopWaiting(_ id: WaiterID, for key: CacheKey) -> Bool {
        guard let waited = waiters.update(id, { $0.removePending(key) }) ?? nil else {
            return false
        }
        interests.remove(from: waited)
        return true
    }

    /// An image is settled for a caller.
    package mutating func settle(_ id: WaiterID, _ key: CacheKey, _ failure: Failure?) {
        if let failure { waiters.update(id) { $0.failures[key] = failure } } else { give(id, key) }
        _ = stopWaiting(id, for: key)
    }

    /// Forgets how these images were settled for a caller.
    package mutating func forget(_ id: WaiterID, _ keys: some Sequence<CacheKey>) {
        for key in keys {
            waiters.update(id) { $0.failures[key] = nil }
            if waiters.update(id, { $0.delivered.remove(key) != nil }) == true { release(key) }
        }
    }

    // MARK: Given images

    /// A caller gets the image. It can still wait for its download, if it has named it twice.
    package mutating func give(_ id: WaiterID, _ key: CacheKey) {
        if waiters.update(id, { $0.delivered.insert(key).inserted }) == true { given.add(to: key) }
    }

    /// Whether a caller was given the image and has not been notified.
    package func isGiven(_ key: CacheKey) -> Bool { given[key] > 0 }

    /// The images that a caller was given. ``release(_:)`` has to follow for each.
    package mutating func takeGiven(_ id: WaiterID) -> Set<CacheKey> {
        if let keys = reporting.removeValue(forKey: id) { return keys }
        return waiters.update(id) { waiter in
            defer { waiter.delivered = [] }
            return waiter.delivered
        } ?? []
    }

    /// A caller that was given the image was notified, or is gone.
    package mutating func release(_ key: CacheKey) { given.remove(from: key) }

    // MARK: Deadlines

    /// The next deadline; `nil` if no caller gave a time.
    package var nextDeadline: ContinuousClock.Instant? { deadlines.earliest }

    /// The caller has named its images. Returns whether its deadline comes before all others.
    package mutating func setDeadline(_ id: WaiterID) -> Bool {
        guard let waiter = waiters[id], let end = waiter.deadline, !waiter.pending.isEmpty else {
            return false
        }
        return deadlines.add(id, at: end)
    }

    /// The next caller whose time is over. It may have had its outcome.
    package mutating func takeOverdue(now: ContinuousClock.Instant) -> WaiterID? {
        deadlines.takeDue(now: now)?.event
    }

    // MARK: Outcomes

    /// The outcome of a request whose images are all settled. The waiter is then removed.
    package mutating func takeOutcome(_ id: WaiterID) -> Outcome? {
        guard let waiter = waiters[id], waiter.isComplete, waiter.pending.isEmpty else {
            return nil
        }
        waiters[id] = nil
        if waiter.isHeld {
            reporting[id] = waiter.delivered
        } else {
            for key in waiter.delivered { release(key) }
        }
        return Outcome(waiter: id, failures: waiter.failures)
    }

    /// Whether the caller was already given the image.
    package func has(_ id: WaiterID, _ key: CacheKey) -> Bool {
        waiters[id]?.delivered.contains(key) == true
    }
}

extension Waiter {
    /// Removes an image that is waited for. Returns the user who waited for it. `nil` if nobody did.
    fileprivate mutating func removePending(_ key: CacheKey) -> UserID? {
        pending.remove(key) == nil ? nil : client.user
    }
}
