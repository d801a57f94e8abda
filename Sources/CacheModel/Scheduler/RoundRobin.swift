/// Clients that take turns. The members of each client take turns too.
package struct RoundRobin<Member: Hashable & Sendable>: Sendable {
    private var clients = LinkedSet<ClientID>()
    private var members: [ClientID: LinkedSet<Member>] = [:]

    package init() {}

    package var isEmpty: Bool { clients.isEmpty }

    /// The client whose turn is next, and its first member.
    package var first: (client: ClientID, member: Member)? { first { _ in true } }

    /// The first client in turn that meets the condition, and its first member.
    package func first(where condition: (ClientID) -> Bool) -> (client: ClientID, member: Member)? {
        guard let client = clients.first(where: condition), let member = members[client]?.first
        else { return nil }
        return (client, member)
    }

    /// The members of a client, in their order.
    package func members(of client: ClientID) -> [Member] { members[client]?.elements ?? [] }

    package mutating func append(_ client: ClientID, _ member: Member) {
        clients.append(client)
        members.update(client, default: LinkedSet()) { $0.append(member) }
    }

    /// Removes a member. Returns whether it was there.
    package mutating func remove(_ client: ClientID, _ member: Member) -> Bool {
        let isLast: Bool?? = members.update(client) { $0.remove(member) ? $0.isEmpty : nil }
        guard let isLast = isLast ?? nil else { return false }
        if isLast {
            members[client] = nil
            clients.remove(client)
        }
        return true
    }

    /// A client and its first member had their turn, so both move to the end.
    package mutating func hadTurn(_ client: ClientID) {
        members.update(client) { members in
            if let member = members.first { members.moveToEnd(member) }
        }
        clients.moveToEnd(client)
    }
}
