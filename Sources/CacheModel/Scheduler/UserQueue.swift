internal import CacheKey

/// The downloads of one user that wait for a transfer slot. The clients of the user take turns, and
/// each client's downloads start in the order in which it named them.
///
/// If a host has no slot for a flow, the flow is blocked until the host has one. When a slot
/// becomes free, flows are unblocked until one belongs to a client that has nothing running. The
/// other clients among them have downloads running, so the cost of a step does not depend on the
/// number of waiting downloads. When that client starts a download elsewhere, the next one is
/// unblocked.
struct UserQueue: Sendable {
    /// Identifies the blocked flows of one priority from one host.
    fileprivate struct BlockedFlows: Hashable, Sendable {
        let priority: Priority
        let origin: Origin
    }

    private var flows: [FlowKey: LinkedSet<Ticket>] = [:]
    /// Flows that are not blocked, by priority.
    private var ready = [RoundRobin<ClientID, Origin>](
        repeating: RoundRobin(), count: Priority.allCases.count)
    /// The clients of blocked flows.
    private var blocked: [BlockedFlows: LinkedSet<ClientID>] = [:]
    /// The number of tickets of each priority.
    private var counts = [Int](repeating: 0, count: Priority.allCases.count)

    var isEmpty: Bool { flows.isEmpty }

    /// The number of downloads of these priorities that wait.
    func count(_ priorities: [Priority]) -> Int { priorities.reduce(0) { $0 + counts[$1.index] } }

    mutating func append(_ ticket: Ticket, _ flow: FlowKey, atFront: Bool = false) {
        if flows[flow] == nil { ready[flow.priority.index].append(flow.client, flow.origin) }
        var more = 0
        flows.update(flow, default: LinkedSet()) { set in
            let before = set.count
            if atFront { set.prepend(ticket) } else { set.append(ticket) }
            more = set.count - before
        }
        counts[flow.priority.index] += more
    }

    /// Removes a ticket, if it is in the queue. Returns whether its flow is gone although it was not
    /// blocked, so that it leaves a slot of its host to others.
    mutating func remove(_ ticket: Ticket, _ flow: FlowKey) -> Bool {
        let isLast: Bool?? = flows.update(flow) { $0.remove(ticket) ? $0.isEmpty : nil }
        guard let isLast = isLast ?? nil else { return false }
        counts[flow.priority.index] -= 1
        guard isLast else { return false }
        flows[flow] = nil
        if ready[flow.priority.index].remove(flow.client, flow.origin) { return true }
        unblock(flow.client, flow.blockedFlows)
        return false
    }

    // MARK: Flows that are not blocked

    /// The flow whose turn is next, among clients that meet the condition.
    func first(_ priority: Priority, for condition: (ClientID) -> Bool) -> FlowKey? {
        ready[priority.index].first(where: condition).map { client, origin in
            FlowKey(priority: priority, client: client, origin: origin)
        }
    }

    /// The download of a flow whose turn is next.
    func first(of flow: FlowKey) -> CacheKey? { flows[flow]?.first?.key }

    mutating func hadTurn(_ flow: FlowKey) { ready[flow.priority.index].hadTurn(flow.client) }

    /// The hosts of a client's flows that are not blocked.
    func origins(of client: ClientID) -> Set<Origin> {
        Set(ready.flatMap { $0.members(of: client) })
    }

    // MARK: Blocked flows

    var hasBlocked: Bool { !blocked.isEmpty }

    /// The hosts at which flows are blocked.
    var blockedOrigins: Set<Origin> { Set(blocked.keys.map(\.origin)) }

    /// The number of flows that are blocked at a host.
    func blockedCount(at origin: Origin) -> Int {
        Priority.allCases.reduce(0) { sum, priority in
            sum + (blocked[BlockedFlows(priority: priority, origin: origin)]?.count ?? 0)
        }
    }

    /// The first client that meets the condition and whose download of one of these priorities waits for a host.
    func firstBlocked(
        at origin: Origin, _ priorities: [Priority], where condition: (ClientID) -> Bool
    ) -> ClientID? {
        for priority in priorities {
            let flows = BlockedFlows(priority: priority, origin: origin)
            if let client = blocked[flows]?.first(where: condition) { return client }
        }
        return nil
    }

    /// A host has a free slot. Unblocks the most urgent flows that can have it, up to one whose
    /// client has nothing running. Returns whether there is such a flow.
    mutating func slotFreed(
        at origin: Origin, _ priorities: [Priority], _ slots: borrowing TransferSlots
    ) -> Bool {
        for priority in priorities where slots.hasSlot(for: priority, at: origin) {
            let flows = BlockedFlows(priority: priority, origin: origin)
            while let client = blocked[flows]?.first(where: {
                slots.admits($0, priority, at: origin)
            }) {
                unblock(client, flows)
                ready[priority.index].append(client, origin)
                if slots.hasNothingRunning(client) { return true }
            }
        }
        return false
    }

    /// The host of a flow has no slot for it.
    mutating func block(_ flow: FlowKey) {
        _ = ready[flow.priority.index].remove(flow.client, flow.origin)
        blocked.update(flow.blockedFlows, default: LinkedSet()) { $0.append(flow.client) }
    }

    private mutating func unblock(_ client: ClientID, _ flows: BlockedFlows) {
        let isLast = blocked.update(flows) { clients in
            clients.remove(client)
            return clients.isEmpty
        }
        if isLast == true { blocked[flows] = nil }
    }
}

extension FlowKey {
    fileprivate var blockedFlows: UserQueue.BlockedFlows {
        .init(priority: priority, origin: origin)
    }
}

extension UserQueue {
    /// All flows, and whether each is blocked.
    var allFlows: [(flow: FlowKey, isBlocked: Bool)] {
        flows.keys.map { ($0, blocked[$0.blockedFlows]?.contains($0.client) == true) }
    }

    /// Checks that every flow is either ready or blocked.
    func checkInvariants() {
        var copy = self
        for priority in Priority.allCases {
            let count = flows.reduce(0) { $0 + ($1.key.priority == priority ? $1.value.count : 0) }
            precondition(
                count == counts[priority.index],
                "\(count) downloads are \(priority), \(counts[priority.index]) are counted")
        }
        for (flow, isBlocked) in allFlows {
            precondition(flows[flow]?.isEmpty == false, "\(flow) is empty")
            let isReady = copy.ready[flow.priority.index].remove(flow.client, flow.origin)
            precondition(isBlocked != isReady, "\(flow) is both ready and blocked, or neither")
        }
        precondition(copy.ready.allSatisfy(\.isEmpty), "a flow without tickets is ready")
        let blockedCount = blocked.values.reduce(0) { $0 + $1.count }
        precondition(blockedCount <= flows.count, "a flow without tickets is blocked")
    }
}
