package import CacheKey
package import CacheValues

/// The callers that wait for downloads, and the number of downloads for which only the daemon waits.
///
/// Invariant: every pending key has a download, and that download lists the waiter.
package struct Waiters: Sendable {
    private var waiters: [WaiterID: Waiter] = [:]
    /// The downloads that continue without a caller.
    package var detached: DetachedDownloads
    /// The images that the callers of each user wait for.
    package private(set) var interests = UserQuota(limit: interestLimit)

    /// When the callers that gave a time wait no longer.
    private var deadlines = Schedule<WaiterID>()

    /// The most images that the callers of one user may wait for.
    package static let interestLimit = 500_000

    package init(detachedLimit: Int) { detached = DetachedDownloads(limit: detachedLimit) }

    package subscript(id: WaiterID) -> Waiter? { waiters[id] }

    package var all: some Collection<(key: WaiterID, value: Waiter)> { waiters }

    /// A caller begins a request, and names its images next.
    package mutating func insert(_ id: WaiterID, _ options: FetchOptions) {
        waiters[id] = Waiter(options)
    }

    package mutating func remove(_ id: WaiterID) {
        guard let waiter = waiters.removeValue(forKey: id) else { return }
        interests.remove(waiter.pending.count, of: waiter.client.user)
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
        if let isNew { interests.add(isNew.count, of: isNew.user) }
    }

    /// The caller no longer waits for the download. Returns whether it did.
    package mutating func stopWaiting(_ id: WaiterID, for key: CacheKey) -> Bool {
        guard let waited = waiters.update(id, { $0.removePending(key) }) ?? nil else {
            return false
        }
        interests.remove(1, of: waited)
        return true
    }

    /// An image is settled for a caller.
    ///
    /// - Parameter isUnshareable: whether no other caller can get the image.
    package mutating func settle(
        _ id: WaiterID, _ key: CacheKey, _ failure: Failure?, isUnshareable: Bool
    ) {
        let waited = waiters.update(id) { waiter in
            if let failure {
                waiter.failures[key] = failure
            } else {
                waiter.delivered.insert(key)
                if isUnshareable { waiter.unshareable.insert(key) }
            }
            return waiter.removePending(key)
        }
        if let user = waited ?? nil { interests.remove(1, of: user) }
    }

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
        return Outcome(waiter: id, failures: waiter.failures)
    }

    /// Whether the caller was already given the image.
    package func has(_ id: WaiterID, _ key: CacheKey) -> Bool {
        waiters[id]?.delivered.contains(key) == true
    }

    /// Unshareable images in requests that have not ended, so their callers have not been notified yet.
    package var unreported: Set<CacheKey> {
        waiters.values.reduce(into: Set()) { $0.formUnion($1.unshareable) }
    }
}

extension Waiter {
    /// Removes an image that is waited for. Returns the user who waited for it. `nil` if nobody did.
    fileprivate mutating func removePending(_ key: CacheKey) -> UserID? {
        pending.remove(key) == nil ? nil : client.user
    }
}
