import CacheValues

/// The slots in use, of all downloads or of those from one origin, and the clients and users that use them.
struct ConcurrencyUsage: Sendable {
    private(set) var count = 0
    /// The running downloads of each client, without prefetches.
    private var clients = Tally<ClientID>()
    /// The running downloads of each user, without prefetches.
    private var users = Tally<UserID>()

    func active(_ client: ClientID) -> Int { clients[client] }

    func active(_ user: UserID) -> Int { users[user] }

    /// The only client that has downloads running, not counting prefetches.
    var onlyClient: ClientID? { clients.counts.count == 1 ? clients.counts.first?.key : nil }

    /// What a client that waits has, and what the owner of a running download has: their users' downloads, or those of
    /// the two clients if they are of one user.
    func compare(_ client: ClientID, _ owner: ClientID) -> (has: Int, other: Int) {
        client.user == owner.user
            ? (clients[client], clients[owner]) : (users[client.user], users[owner.user])
    }

    mutating func add(_ flow: FlowKey) {
        count += 1
        guard flow.priority != .background else { return }
        clients.add(to: flow.client)
        users.add(to: flow.client.user)
    }

    mutating func remove(_ flow: FlowKey) {
        count -= 1
        guard flow.priority != .background else { return }
        clients.remove(from: flow.client)
        users.remove(from: flow.client.user)
    }
}
