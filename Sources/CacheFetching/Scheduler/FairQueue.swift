package import CacheValues

/// Members that wait for something of which there is not enough: slots of downloads, bytes, threads, questions.
///
/// Users take turns, and the clients of a user take turns beneath. Among the members of one client the more urgent
/// come first, and equally urgent ones take turns. Prefetches come after everything else. So nobody gains anything by
/// more connections, more members or a higher priority. A step takes the same time however many members wait.
package struct FairQueue<Member: Hashable & Sendable>: Sendable {
    /// A member, and whose it is.
    package struct Turn: Hashable, Sendable {
        package let member: Member
        package let client: ClientID
        package let priority: Priority

        package init(_ member: Member, _ client: ClientID, _ priority: Priority = .normal) {
            (self.member, self.client, self.priority) = (member, client, priority)
        }
    }

    private var urgent = RankQueue<Member>()
    private var prefetches = RankQueue<Member>()

    package init() {}

    package var isEmpty: Bool { urgent.isEmpty && prefetches.isEmpty }

    /// Whether nothing waits but prefetches.
    package var hasOnlyPrefetches: Bool { urgent.isEmpty }

    package mutating func append(_ turn: Turn) {
        if turn.isPrefetch { prefetches.append(turn) } else { urgent.append(turn) }
    }

    /// Returns whether the member was there.
    @discardableResult
    package mutating func remove(_ turn: Turn) -> Bool {
        turn.isPrefetch ? prefetches.remove(turn) : urgent.remove(turn)
    }

    /// The member whose turn is next.
    ///
    /// - Parameters:
    ///   - count: what a user has already. Users who have less come first. `nil` for a user who gets nothing now.
    ///   - rank: a number for each client. Among the clients of a user those of the least rank come first. 0 is the least.
    package func first(
        count: (UserID) -> Int? = { _ in 0 }, rank: (ClientID) -> Int = { _ in 0 }
    ) -> Turn? {
        urgent.first(count, rank) ?? prefetches.first(count, rank)
    }

    /// The member of each user whose turn is next, without prefetches.
    package func firstOfEach(
        count: (UserID) -> Int? = { _ in 0 }, rank: (ClientID) -> Int = { _ in 0 }
    ) -> [Turn] {
        urgent.users.elements.filter { count($0) != nil }
            .compactMap { urgent.first(of: $0, rank) }
    }

    /// Takes the member whose turn is next.
    package mutating func takeFirst(
        count: (UserID) -> Int? = { _ in 0 }, rank: (ClientID) -> Int = { _ in 0 }
    ) -> Turn? {
        guard let turn = first(count: count, rank: rank) else { return nil }
        hadTurn(turn)
        remove(turn)
        return turn
    }

    /// The member, its client and its user had their turn, so they move to the end.
    package mutating func hadTurn(_ turn: Turn) {
        if turn.isPrefetch { prefetches.hadTurn(turn) } else { urgent.hadTurn(turn) }
    }

    /// The client lets the other clients of its user go first.
    package mutating func moveToEnd(_ client: ClientID) {
        urgent.moveToEnd(client)
        prefetches.moveToEnd(client)
    }
}

extension FairQueue.Turn {
    fileprivate var isPrefetch: Bool { priority == .background }
    fileprivate var group: MemberGroup { MemberGroup(client: client, priority: priority) }
}

/// The members of one client that are equally urgent.
private struct MemberGroup: Hashable, Sendable {
    let client: ClientID
    let priority: Priority
}

private struct RankQueue<Member: Hashable & Sendable>: Sendable {
    typealias Turn = FairQueue<Member>.Turn

    private(set) var users = LinkedSet<UserID>()
    private var clients: [UserID: LinkedSet<ClientID>] = [:]
    private var members: [MemberGroup: LinkedSet<Member>] = [:]

    var isEmpty: Bool { users.isEmpty }

    mutating func append(_ turn: Turn) {
        users.append(turn.client.user)
        clients.update(turn.client.user, default: LinkedSet()) { $0.append(turn.client) }
        members.update(turn.group, default: LinkedSet()) { $0.append(turn.member) }
    }

    mutating func remove(_ turn: Turn) -> Bool {
        let isLast: Bool?? = members.update(turn.group) {
            $0.remove(turn.member) ? $0.isEmpty : nil
        }
        guard let isLast = isLast ?? nil else { return false }
        guard isLast else { return true }
        members[turn.group] = nil
        guard first(of: turn.client) == nil else { return true }
        let isLastClient = clients.update(turn.client.user) { clients in
            clients.remove(turn.client)
            return clients.isEmpty
        }
        guard isLastClient == true else { return true }
        clients[turn.client.user] = nil
        users.remove(turn.client.user)
        return true
    }

    func first(_ count: (UserID) -> Int?, _ rank: (ClientID) -> Int) -> Turn? {
        var best: (user: UserID, count: Int)?
        _ = users.first { user in
            guard let count = count(user), count < best?.count ?? .max else { return false }
            best = (user, count)
            return count == 0
        }
        return best.flatMap { first(of: $0.user, rank) }
    }

    func first(of user: UserID, _ rank: (ClientID) -> Int) -> Turn? {
        var best: (client: ClientID, rank: Int)?
        _ = clients[user]?.first { client in
            let rank = rank(client)
            if rank < best?.rank ?? .max { best = (client, rank) }
            return rank == 0
        }
        return best.flatMap { first(of: $0.client) }
    }

    private func first(of client: ClientID) -> Turn? {
        for priority in Priority.allCases.reversed() {
            let group = MemberGroup(client: client, priority: priority)
            if let member = members[group]?.first { return Turn(member, client, priority) }
        }
        return nil
    }

    mutating func hadTurn(_ turn: Turn) {
        members.update(turn.group) { $0.moveToEnd(turn.member) }
        moveToEnd(turn.client)
        users.moveToEnd(turn.client.user)
    }

    mutating func moveToEnd(_ client: ClientID) {
        clients.update(client.user) { $0.moveToEnd(client) }
    }
}
