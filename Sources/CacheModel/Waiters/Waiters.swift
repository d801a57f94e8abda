package import CacheKey

/// The callers that wait for downloads, and the number of downloads for which only the daemon waits.
///
/// Invariant: every pending key has a download, and that download lists the waiter.
package struct Waiters: Sendable {
    private var waiters: [WaiterID: Waiter] = [:]
    /// Limits the downloads that continue without a caller.
    package var detached: DetachedQuota

    package init(detachedLimit: Int) { detached = DetachedQuota(limit: detachedLimit) }

    package subscript(id: WaiterID) -> Waiter? { waiters[id] }

    package var all: some Collection<(key: WaiterID, value: Waiter)> { waiters }

    /// A caller begins a request, and names its images next.
    package mutating func insert(_ id: WaiterID, _ options: FetchOptions) {
        waiters[id] = Waiter(options)
    }

    package mutating func remove(_ id: WaiterID) { waiters[id] = nil }

    @discardableResult
    package mutating func update<Result>(_ id: WaiterID, _ change: (inout Waiter) -> Result)
        -> Result?
    {
        waiters.update(id, change)
    }

    /// The caller waits for the download of an image.
    package mutating func wait(_ id: WaiterID, for key: CacheKey) {
        waiters.update(id) { $0.pending.insert(key) }
    }

    /// The caller no longer waits for the download. Returns whether it did.
    package mutating func stopWaiting(_ id: WaiterID, for key: CacheKey) -> Bool {
        waiters.update(id) { $0.pending.remove(key) != nil } ?? false
    }

    /// An image is settled for a caller.
    ///
    /// - Parameter isUnshareable: whether no other caller can get the image.
    package mutating func settle(
        _ id: WaiterID, _ key: CacheKey, _ failure: Failure?, isUnshareable: Bool
    ) {
        waiters.update(id) { waiter in
            waiter.pending.remove(key)
            if let failure {
                waiter.failures[key] = failure
            } else {
                waiter.delivered.insert(key)
                if isUnshareable { waiter.unshareable.insert(key) }
            }
        }
    }

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
