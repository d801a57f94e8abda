internal import CacheKey

/// Downloads that wait for a transfer slot, in the order in which they get one. The most urgent
/// start first. For equal priority, clients take turns, and each client's downloads start in the
/// order in which it named them.
///
/// Each waiter of a download has a ticket for it, in the flow of its own client, priority and host.
/// So a shared download starts when the turn of its first ticket comes. It is as urgent as its most
/// urgent waiter, even as waiters join and leave.
///
/// If a host has no slot for a flow, the flow is blocked until the host has one. When a slot
/// becomes free, flows are unblocked until one belongs to a client that has nothing running. The
/// other clients among them have downloads running, so the cost of a step does not depend on the
/// number of waiting downloads. When that client starts a download elsewhere, the next one is
/// unblocked.
struct TransferQueue: Sendable {
    /// Identifies the blocked flows of one priority from one host.
    fileprivate struct BlockedFlows: Hashable, Sendable {
        let priority: Priority
        let origin: Origin
    }

    private var flows: [FlowKey: LinkedSet<Ticket>] = [:]
    /// Flows that are not blocked, by priority.
    private var ready = [RoundRobin<Origin>](
        repeating: RoundRobin(), count: Priority.allCases.count)
    /// The clients of blocked flows.
    private var blocked: [BlockedFlows: LinkedSet<ClientID>] = [:]
    private var visibleFlows = 0

    var isEmpty: Bool { flows.isEmpty }

    /// Whether a visible download waits.
    var isVisibleWaiting: Bool { visibleFlows > 0 }

    mutating func append(_ ticket: Ticket, _ flow: FlowKey, atFront: Bool = false) {
        if flows[flow] == nil {
            ready[flow.priority.index].append(flow.client, flow.origin)
            if flow.priority == .visible { visibleFlows += 1 }
        }
        flows.update(flow, default: LinkedSet()) { set in
            if atFront { set.prepend(ticket) } else { set.append(ticket) }
        }
    }

    /// Removes a ticket, if it is in the queue.
    mutating func remove(_ ticket: Ticket, _ flow: FlowKey, _ slots: borrowing TransferSlots) {
        let isLast = flows.update(flow) { $0.remove(ticket) && $0.isEmpty }
        guard isLast == true else { return }
        flows[flow] = nil
        if flow.priority == .visible { visibleFlows -= 1 }
        if ready[flow.priority.index].remove(flow.client, flow.origin) {
            // The flow may have been unblocked for a slot that it does not need now.
            slotFreed(at: flow.origin, slots)
        } else {
            unblock(flow.client, flow.blockedFlows)
        }
    }

    /// The download whose turn is next, and its flow. Its tickets stay until they are removed.
    mutating func next(_ slots: borrowing TransferSlots) -> (key: CacheKey, flow: FlowKey)? {
        for priority in Priority.allCases.reversed() where slots.hasSlot(for: priority) {
            guard
                let flow = nextTurn(priority, slots, for: { slots.admits($0, priority) }),
                let key = flows[flow]?.first?.key
            else { continue }
            ready[priority.index].hadTurn(flow.client)
            return (key, flow)
        }
        return nil
    }

    /// The flow whose turn is next, among clients that meet the condition. Clients that do not meet
    /// it have downloads running, so there are few of them. Flows whose host is full become
    /// blocked.
    private mutating func nextTurn(
        _ priority: Priority, _ slots: borrowing TransferSlots, for condition: (ClientID) -> Bool
    ) -> FlowKey? {
        while let (client, origin) = ready[priority.index].first(where: condition) {
            let flow = FlowKey(priority: priority, client: client, origin: origin)
            if slots.admits(client, priority, at: origin) { return flow }
            block(flow)
            // The flow may have been unblocked for a slot that another flow can have.
            slotFreed(at: origin, slots)
        }
        return nil
    }

    // MARK: Preemption

    /// The client whose visible download would be next if a slot were free. Only clients are
    /// considered that get a slot if `prefetches` prefetches stop.
    mutating func nextVisibleClient(
        _ slots: borrowing TransferSlots, ifPreempting prefetches: Int
    ) -> ClientID? {
        nextTurn(.visible, slots) { slots.excess(for: $0) <= prefetches }?.client
    }

    /// A client whose visible download is blocked because its host is full, and would get a slot if
    /// `prefetches` prefetches from that host stopped.
    func nextBlockedVisibleClient(
        at origin: Origin, _ slots: borrowing TransferSlots, ifPreempting prefetches: Int
    ) -> ClientID? {
        blocked[BlockedFlows(priority: .visible, origin: origin)]?
            .first { max(slots.excess(for: $0, at: origin), slots.excess(for: $0)) <= prefetches }
    }

    // MARK: Blocked flows

    /// A host has a free slot. Unblocks the most urgent flows that can have it, up to one whose
    /// client has nothing running.
    mutating func slotFreed(at origin: Origin, _ slots: borrowing TransferSlots) {
        for priority in Priority.allCases.reversed()
        where slots.hasSlot(for: priority, at: origin) {
            let flows = BlockedFlows(priority: priority, origin: origin)
            while let client = blocked[flows]?.first(where: {
                slots.admits($0, priority, at: origin)
            }) {
                unblock(client, flows)
                ready[priority.index].append(client, origin)
                if slots.hasNothingRunning(client) { return }
            }
        }
    }

    /// A client that had nothing running has a download now. It may no longer be admitted, while a client behind it
    /// is that waits for the same slot of a host.
    mutating func clientStarted(_ client: ClientID, _ slots: borrowing TransferSlots) {
        guard !blocked.isEmpty else { return }
        for origin in Set(ready.flatMap { $0.members(of: client) }) { slotFreed(at: origin, slots) }
    }

    /// A host has many more slots, so all flows that are blocked for it are tried.
    mutating func limitRose(at origin: Origin, _ slots: borrowing TransferSlots) {
        let waiting = Priority.allCases.reduce(0) { sum, priority in
            sum + (blocked[BlockedFlows(priority: priority, origin: origin)]?.count ?? 0)
        }
        for _ in 0..<waiting { slotFreed(at: origin, slots) }
    }

    /// All hosts can have more slots.
    mutating func limitsRose(_ slots: borrowing TransferSlots) {
        for origin in Set(blocked.keys.map(\.origin)) { limitRose(at: origin, slots) }
    }

    private mutating func block(_ flow: FlowKey) {
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
    fileprivate var blockedFlows: TransferQueue.BlockedFlows {
        .init(priority: priority, origin: origin)
    }
}

extension TransferQueue {
    /// Checks that every flow is either ready or blocked, and that no flow is blocked without a reason.
    func checkInvariants(_ slots: borrowing TransferSlots) {
        var copy = self
        let visible = flows.keys.count { $0.priority == .visible }
        precondition(visible == visibleFlows, "\(visible) visible flows, \(visibleFlows) counted")
        for (flow, tickets) in flows {
            precondition(!tickets.isEmpty, "\(flow) is empty")
            let isBlocked = isBlocked(flow)
            let isReady = copy.ready[flow.priority.index].remove(flow.client, flow.origin)
            precondition(isBlocked != isReady, "\(flow) is both ready and blocked, or neither")
        }
        precondition(copy.ready.allSatisfy(\.isEmpty), "a flow without tickets is ready")
        let blockedCount = blocked.values.reduce(0) { $0 + $1.count }
        precondition(blockedCount <= flows.count, "a flow without tickets is blocked")
        for origin in Set(blocked.keys.map(\.origin)) { checkBlocked(at: origin, slots) }
    }

    private func isBlocked(_ flow: FlowKey) -> Bool {
        blocked[flow.blockedFlows]?.contains(flow.client) == true
    }

    private func checkBlocked(at origin: Origin, _ slots: borrowing TransferSlots) {
        var waiting = self
        waiting.slotFreed(at: origin, slots)
        let isFreed = waiting.blocked.mapValues(\.count) != blocked.mapValues(\.count)
        let isReady = flows.keys.contains { $0.origin == origin && !isBlocked($0) }
        precondition(!isFreed || isReady, "\(origin) has a slot, but no flow is unblocked for it")
        let admitted = flows.keys.filter { flow in
            flow.origin == origin && slots.hasSlot(for: flow.priority)
                && slots.admits(flow.client, flow.priority)
                && slots.admits(flow.client, flow.priority, at: origin)
        }
        precondition(
            admitted.isEmpty || !admitted.allSatisfy { isBlocked($0) },
            "\(admitted) can start, but all of them are blocked")
    }
}
