package import CacheKey
package import CacheValues

/// The downloads that continue without a caller. Such downloads are requested with `wait: false`, or
/// ask the origin about a stale entry. No caller can end them by leaving, so the number of each user
/// is limited.
///
/// The downloads of a client that is gone end when the time ``timeLeft`` is over, or as soon as their
/// user's quota is needed for another client.
package struct DetachedDownloads: Sendable {
    /// The detached downloads, and the images that calls are about to name. Each can become another
    /// detached download.
    private var quota: UserQuota
    private var keys: [ClientID: Set<CacheKey>] = [:]
    /// The clients that are gone, the first one first.
    private var departed: [(client: ClientID, end: ContinuousClock.Instant)] = []
    /// The number of detached downloads.
    package private(set) var count = 0

    /// How long downloads continue after their client has gone.
    package static let timeLeft = Duration.seconds(3600)

    package init(limit: Int) { quota = UserQuota(limit: limit) }

    package var limit: Int { quota.limit }

    /// Whether `more` further downloads of a user are within the limits.
    package func admits(_ more: Int, of user: UserID) -> Bool { quota.admits(more, of: user) }

    package mutating func add(_ key: CacheKey, of client: ClientID) {
        keys.update(client, default: []) { $0.insert(key) }
        quota.add(1, of: client.user)
        count += 1
    }

    package mutating func remove(_ key: CacheKey, of client: ClientID) {
        let isLast = keys.update(client) { keys in
            keys.remove(key)
            return keys.isEmpty
        }
        if isLast == true {
            keys[client] = nil
            departed.removeAll { $0.client == client }
        }
        quota.remove(1, of: client.user)
        count -= 1
    }

    /// A call is about to name `images` images.
    package mutating func announce(_ images: Int, of user: UserID) { quota.add(images, of: user) }

    /// The call has named its images.
    package mutating func named(_ images: Int, of user: UserID) { quota.remove(images, of: user) }

    // MARK: Clients that are gone

    package mutating func left(_ client: ClientID, now: ContinuousClock.Instant) {
        guard keys[client] != nil, !departed.contains(where: { $0.client == client }) else {
            return
        }
        departed.append((client, now + Self.timeLeft))
    }

    /// Downloads of clients of this user that are gone.
    ///
    /// - Parameter condition: whether a download can end.
    package func departedKeys(
        of user: UserID, limit: Int, where condition: (CacheKey) -> Bool
    ) -> [CacheKey] {
        departedKeys(limit, condition) { $0.client.user == user }
    }

    /// Downloads of clients that left long ago.
    package func departedKeys(
        now: ContinuousClock.Instant, limit: Int, where condition: (CacheKey) -> Bool
    ) -> [CacheKey] {
        departedKeys(limit, condition) { $0.end <= now }
    }

    private func departedKeys(
        _ limit: Int, _ condition: (CacheKey) -> Bool,
        _ isMeant: ((client: ClientID, end: ContinuousClock.Instant)) -> Bool
    ) -> [CacheKey] {
        let all = departed.lazy.filter(isMeant).flatMap { keys[$0.client] ?? [] }
        return Array(all.filter(condition).prefix(limit))
    }
}
