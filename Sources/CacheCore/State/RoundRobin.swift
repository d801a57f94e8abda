/// Who is next among clients, and for each client which of what it waits for: all in turn.
struct RoundRobin<Member: Hashable & Sendable>: Sendable {
    private var clients = LinkedSet<ClientID>()
    private var members: [ClientID: LinkedSet<Member>] = [:]

    var isEmpty: Bool { clients.isEmpty }

    /// The client whose turn it is, and what it waits for.
    var first: (client: ClientID, member: Member)? { first { _ in true } }

    /// The client whose turn it is among those for whom that holds, and what it waits for.
    func first(where holds: (ClientID) -> Bool) -> (client: ClientID, member: Member)? {
        guard let client = clients.first(where: holds), let member = members[client]?.first else {
            return nil
        }
        return (client, member)
    }

    mutating func append(_ client: ClientID, _ member: Member) {
        clients.append(client)
        members.update(client, default: LinkedSet()) { $0.append(member) }
    }

    /// Whether it was there.
    mutating func remove(_ client: ClientID, _ member: Member) -> Bool {
        let isLast: Bool?? = members.update(client) { $0.remove(member) ? $0.isEmpty : nil }
        guard let isLast = isLast ?? nil else { return false }
        if isLast {
            members[client] = nil
            clients.remove(client)
        }
        return true
    }

    /// A client had its turn, and the first it waits for with it.
    mutating func hadTurn(_ client: ClientID) {
        members.update(client) { line in
            if let member = line.first { line.moveToEnd(member) }
        }
        clients.moveToEnd(client)
    }
}
