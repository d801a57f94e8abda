import CacheDisk
import CacheKey
package import CacheValues

/// Downloads that continue without a caller, because it does not wait for them.
extension FetchingState {
    /// A caller that does not wait is about to name `images` images. If the quota admits them,
    /// ``detachedNamed(_:for:_:)`` follows. Otherwise the caller names none.
    package mutating func detachedAnnounced(_ images: Int, for client: ClientID = .daemon) -> Bool {
        guard waiters.detached.admits(images, of: client.user) else { return false }
        waiters.detached.announce(images, of: client.user)
        return true
    }

    /// The caller has named its images.
    package mutating func detachedNamed(
        _ images: Int, for client: ClientID = .daemon, _ effects: inout Effects
    ) {
        waiters.detached.named(images, of: client.user)
        preemptTransfers(&effects)
    }

    /// Makes the daemon itself wait for a download. If it already waits, the more urgent priority counts, and a program in a
    /// sandbox takes it from nobody.
    mutating func detach(_ key: CacheKey, _ options: FetchOptions) {
        guard let flight = downloads[key] else { return }
        let ticket = Ticket(key: key, waiter: nil)
        if let detached = flight.detached {
            let frees = detached.client.isGuest && !options.client.isGuest
            guard options.priority > detached.priority || frees else { return }
            if flight.isQueued {
                scheduler.dequeue(ticket, FlowKey(detached, flight.origin))
            }
        }
        let former = flight.detached
        let detached = Flight.Detached(
            priority: max(options.priority, former?.priority ?? .background),
            client: options.client.isGuest ? former?.client ?? options.client : options.client)
        setDetached(key, detached)
        guard flight.isQueued else { return }
        scheduler.enqueue(ticket, FlowKey(detached, flight.origin))
    }

    /// Begins or ends the daemon's own wait.
    mutating func setDetached(_ key: CacheKey, _ detached: Flight.Detached?) {
        guard let flight = downloads[key] else { return }
        downloads.update(key) { $0.detached = detached }
        if let former = flight.detached { waiters.detached.remove(key, of: former.client) }
        if let detached { waiters.detached.add(key, of: detached.client) }
    }

    // MARK: Clients that are gone

    /// A client is gone, and its detached downloads have nobody who could ask about them on its connection.
    package mutating func clientLeft(_ client: ClientID, now: ContinuousClock.Instant) {
        waiters.detached.left(client, now: now)
    }

    /// Ends some of the downloads that clients of this user left behind, because the user's quota is needed. Returns
    /// whether there were any.
    package mutating func departedEnded(of user: UserID, _ effects: inout Effects) -> Bool {
        let keys = waiters.detached.departedKeys(of: user, limit: Self.departedSlice) {
            [downloads] in downloads[$0]?.phase.isIdle == true
        }
        return undetached(keys, &effects)
    }

    /// Ends some of the downloads that clients left behind long ago. Returns whether there were any.
    package mutating func departedEnded(
        now: ContinuousClock.Instant, _ effects: inout Effects
    ) -> Bool {
        let keys = waiters.detached.departedKeys(now: now, limit: Self.departedSlice) {
            [downloads] in downloads[$0]?.phase.isIdle == true
        }
        return undetached(keys, &effects)
    }

    /// Downloads that end under one hold of the lock.
    private static let departedSlice = 512

    private mutating func undetached(_ keys: [CacheKey], _ effects: inout Effects) -> Bool {
        for key in keys {
            if let flight = downloads[key], flight.isQueued, let detached = flight.detached {
                scheduler.dequeue(
                    Ticket(key: key, waiter: nil), FlowKey(detached, flight.origin))
            }
            setDetached(key, nil)
            stopIfUnwanted(key, &effects)
        }
        return !keys.isEmpty
    }
}

extension Phase {
    /// Whether the download waits, for a slot or for its next attempt.
    fileprivate var isIdle: Bool { self == .queued || self == .retrying }
}
