/// Takers that take turns, such as clients. The members of each taker take turns too.
package struct RoundRobin<Taker: Hashable & Sendable, Member: Hashable & Sendable>: Sendable {
    private var takers = LinkedSet<Taker>()
    private var members: [Taker: LinkedSet<Member>] = [:]

    package init() {}

    package var isEmpty: Bool { takers.isEmpty }

    /// The taker whose turn is next, and its first member.
    package var first: (taker: Taker, member: Member)? { first { _ in true } }

    /// The first taker in turn that meets the condition, and its first member.
    package func first(where condition: (Taker) -> Bool) -> (taker: Taker, member: Member)? {
        guard let taker = takers.first(where: condition), let member = members[taker]?.first
        else { return nil }
        return (taker, member)
    }

    /// The members of a taker, in their order.
    package func members(of taker: Taker) -> [Member] { members[taker]?.elements ?? [] }

    package mutating func append(_ taker: Taker, _ member: Member) {
        takers.append(taker)
        members.update(taker, default: LinkedSet()) { $0.append(member) }
    }

    /// Removes a member. Returns whether it was there.
    package mutating func remove(_ taker: Taker, _ member: Member) -> Bool {
        let isLast: Bool?? = members.update(taker) { $0.remove(member) ? $0.isEmpty : nil }
        guard let isLast = isLast ?? nil else { return false }
        if isLast {
            members[taker] = nil
            takers.remove(taker)
        }
        return true
    }

    /// A taker and its first member had their turn, so both move to the end.
    package mutating func hadTurn(_ taker: Taker) {
        members.update(taker) { members in
            if let member = members.first { members.moveToEnd(member) }
        }
        takers.moveToEnd(taker)
    }
}
