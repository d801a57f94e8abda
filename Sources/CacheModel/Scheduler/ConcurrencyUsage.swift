/// The number of slots in use, and the clients that use them.
struct ConcurrencyUsage: Sendable {
    private(set) var count = 0
    /// The running downloads of each client, without prefetches.
    private var active: [ClientID: Int] = [:]

    /// Whether a download of this priority could get a slot, if its client is admitted.
    func hasSlot(for priority: Priority, of limit: ConcurrencyLimit) -> Bool {
        count < (priority == .background ? limit.shared : limit.count)
    }

    /// Whether this client can get a slot.
    func admits(_ client: ClientID, _ priority: Priority, to limit: ConcurrencyLimit) -> Bool {
        guard count >= limit.shared else { return true }
        return hasSlot(for: priority, of: limit) && hasNothingRunning(client)
    }

    /// Whether a client has no running downloads except prefetches.
    func hasNothingRunning(_ client: ClientID) -> Bool { active[client] == nil }

    /// The number of prefetches that have to stop before this client gets a slot.
    func excess(for client: ClientID, of limit: ConcurrencyLimit) -> Int {
        max(0, count + 1 - (hasNothingRunning(client) ? limit.count : limit.shared))
    }

    mutating func add(_ client: ClientID, _ priority: Priority) {
        count += 1
        if priority != .background { active[client, default: 0] += 1 }
    }

    mutating func remove(_ client: ClientID, _ priority: Priority) {
        count -= 1
        guard priority != .background, let left = active[client] else { return }
        active[client] = left > 1 ? left - 1 : nil
    }
}
