/// The number of slots in use, and the clients and users that use them.
struct ConcurrencyUsage: Sendable {
    private(set) var count = 0
    /// The running downloads of each client, without prefetches.
    private var active: [ClientID: Int] = [:]
    /// The running downloads of each user.
    private var users: [UserID: UserUsage] = [:]

    private struct UserUsage: Sendable {
        var all = 0
        /// Those that are not prefetches.
        var active = 0
    }

    /// Whether a download of this priority could get a slot, if its client is admitted.
    func hasSlot(for priority: Priority, of limit: ConcurrencyLimit) -> Bool {
        count < (priority == .background ? limit.shared : limit.count)
    }

    /// Whether this client can get a slot.
    func admits(_ client: ClientID, _ priority: Priority, to limit: ConcurrencyLimit) -> Bool {
        guard count >= limit.shared else { return true }
        return hasSlot(for: priority, of: limit) && mayUseReserve(client)
    }

    /// Whether reserved slots are for this client: it has nothing running, or its user has less than another.
    private func mayUseReserve(_ client: ClientID) -> Bool {
        if hasNothingRunning(client) { return true }
        guard users.count > 1 else { return false }
        let own = active(client.user)
        return users.values.contains { $0.active > own }
    }

    /// Whether several users have downloads running.
    var isShared: Bool { users.count > 1 }

    /// Whether a client has no running downloads except prefetches.
    func hasNothingRunning(_ client: ClientID) -> Bool { active[client] == nil }

    /// The number of running downloads of a client, without prefetches.
    func active(_ client: ClientID) -> Int { active[client] ?? 0 }

    /// The number of running downloads of a user, without prefetches.
    func active(_ user: UserID) -> Int { users[user]?.active ?? 0 }

    /// The number of running downloads of a user.
    func all(_ user: UserID) -> Int { users[user]?.all ?? 0 }

    /// The running downloads of each user who has any.
    var byUser: [UserID: Int] { users.mapValues(\.all) }

    /// Whether a user other than this one has downloads running.
    func isUsed(besides user: UserID) -> Bool {
        users.count > 1 || users.first.map { $0.key != user } ?? false
    }

    /// The number of prefetches that have to stop before this client gets a slot.
    func excess(for client: ClientID, of limit: ConcurrencyLimit) -> Int {
        max(0, count + 1 - (mayUseReserve(client) ? limit.count : limit.shared))
    }

    mutating func add(_ client: ClientID, _ priority: Priority) {
        count += 1
        let isActive = priority != .background
        if isActive { active[client, default: 0] += 1 }
        users.update(client.user, default: UserUsage()) { user in
            user.all += 1
            if isActive { user.active += 1 }
        }
    }

    mutating func remove(_ client: ClientID, _ priority: Priority) {
        count -= 1
        let isActive = priority != .background
        let left = users.update(client.user) { user in
            user.all -= 1
            if isActive { user.active -= 1 }
            return user.all
        }
        if left == 0 { users[client.user] = nil }
        guard isActive, let left = active[client] else { return }
        active[client] = left > 1 ? left - 1 : nil
    }
}
