internal import CacheKey

/// Downloads that wait for a transfer slot, in the order in which they get one.
///
/// The next slot goes to the user who has the fewest downloads running, and beneath to a client that has none. Each
/// waiter of a download has a ticket for it, in the flow of its own client, priority and origin. So a shared download
/// starts when the turn of its first ticket comes, even as waiters join and leave.
///
/// If an origin has no slot for a flow, the flow is blocked and holds up no other. When the origin has free slots again,
/// as many of its blocked flows become ready as there are slots.
struct TransferQueue: Sendable {
    private var flows: [FlowKey: LinkedSet<Ticket>] = [:]
    /// The flows that are not blocked.
    private var ready = FairQueue<Origin>()
    /// The blocked flows of each origin.
    private var blocked: [Origin: FairQueue<Origin>] = [:]
    /// The flows of each client that waits.
    private var clients = Tally<ClientID>()

    var isEmpty: Bool { flows.isEmpty }

    /// Whether nothing waits that may ever start as long as the settings stay the same.
    func isIdle(_ slots: borrowing TransferSlots) -> Bool {
        guard !slots.permitsPrefetches else { return isEmpty }
        return ready.hasOnlyPrefetches && blocked.values.allSatisfy(\.hasOnlyPrefetches)
    }

    /// Whether a client waits that is not this one.
    func hasClient(otherThan client: ClientID) -> Bool {
        clients.counts.count > 1 || clients.counts.first.map { $0.key != client } ?? false
    }

    mutating func append(
        _ ticket: Ticket, _ flow: FlowKey, atFront: Bool = false,
        _ slots: borrowing TransferSlots
    ) {
        if flows[flow] == nil {
            blockLoneFlow(slots)
            clients.add(to: flow.client)
            ready.append(flow.turn)
        }
        flows.update(flow, default: LinkedSet()) {
            if atFront { $0.prepend(ticket) } else { $0.append(ticket) }
        }
    }

    /// Removes a ticket, if it is in the queue.
    mutating func remove(_ ticket: Ticket, _ flow: FlowKey, _ slots: borrowing TransferSlots) {
        let isLast: Bool?? = flows.update(flow) { $0.remove(ticket) ? $0.isEmpty : nil }
        guard isLast == true else { return }
        flows[flow] = nil
        clients.remove(from: flow.client)
        if ready.remove(flow.turn) {
            // The flow may have been ready for a slot that it does not need now.
            slotsFreed(at: flow.origin, slots)
        } else {
            unblock(flow.turn)
        }
    }

    // MARK: Turns

    /// The download whose turn is next, and its flow. Its tickets stay until they are removed.
    mutating func next(_ slots: borrowing TransferSlots) -> (key: CacheKey, flow: FlowKey)? {
        guard slots.hasSlot else { return nil }
        // Most often one client waits for one origin. Then there are no turns to take, and nobody to hold up.
        if flows.count == 1, let (flow, tickets) = flows.first {
            guard slots.hasSlot(at: flow.origin), slots.permitAnother(for: flow.client.user),
                slots.permitsPrefetches || flow.priority != .background
            else { return nil }
            return tickets.first.map { ($0.key, flow) }
        }
        while let turn = first(of: ready, at: nil, slots) {
            guard slots.hasSlot(at: turn.member) else {
                block(turn)
                continue
            }
            ready.hadTurn(turn)
            let flow = FlowKey(turn)
            return flows[flow]?.first.map { ($0.key, flow) }
        }
        return nil
    }

    private func first(
        of queue: FairQueue<Origin>, at origin: Origin?, _ slots: borrowing TransferSlots
    ) -> FairQueue<Origin>.Turn? {
        let first = queue.first(
            count: { slots.permitAnother(for: $0) ? slots.active($0, at: origin) : nil },
            rank: { slots.rank(of: $0, at: origin) })
        return first.flatMap {
            slots.permitsPrefetches || $0.priority != .background ? $0 : nil
        }
    }

    /// A download stopped for another one. Its client lets the other clients of its user go first.
    mutating func gaveWay(_ flow: FlowKey) {
        ready.moveToEnd(flow.client)
        blocked.update(flow.origin) { $0.moveToEnd(flow.client) }
    }

    // MARK: Full places

    /// The flow of each user that would be next if there were a slot, of all slots or of those of one origin.
    /// Prefetches do not count.
    mutating func firstOfEachUser(
        at origin: Origin?, _ slots: borrowing TransferSlots
    ) -> [FlowKey] {
        guard let origin else { return firstReadyOfEachUser(slots) }
        return firstOfEachUser(of: blocked[origin], at: origin, slots)
    }

    /// A flow that waits alone becomes blocked if its origin is full, because another one begins to wait, or running
    /// downloads can give way to it.
    mutating func blockLoneFlow(_ slots: borrowing TransferSlots) {
        guard flows.count == 1, let flow = flows.keys.first, !slots.hasSlot(at: flow.origin)
        else { return }
        block(flow.turn)
    }

    /// Flows whose origin is full become blocked.
    private mutating func firstReadyOfEachUser(_ slots: borrowing TransferSlots) -> [FlowKey] {
        while true {
            let first = firstOfEachUser(of: ready, at: nil, slots)
            let full = first.filter { !slots.hasSlot(at: $0.origin) }
            if full.isEmpty { return first }
            for flow in full { block(flow.turn) }
        }
    }

    private func firstOfEachUser(
        of queue: FairQueue<Origin>?, at origin: Origin?, _ slots: borrowing TransferSlots
    ) -> [FlowKey] {
        queue?.firstOfEach(
            count: { slots.permitAnother(for: $0) ? 0 : nil },
            rank: { slots.rank(of: $0, at: origin) }
        ).map { FlowKey($0) } ?? []
    }

    /// The origins at which flows are blocked.
    var blockedOrigins: some Collection<Origin> { blocked.keys }

    private mutating func block(_ turn: FairQueue<Origin>.Turn) {
        ready.remove(turn)
        blocked.update(turn.member, default: FairQueue()) { $0.append(turn) }
    }

    private mutating func unblock(_ turn: FairQueue<Origin>.Turn) {
        blocked.update(turn.member) { _ = $0.remove(turn) }
        if blocked[turn.member]?.isEmpty == true { blocked[turn.member] = nil }
    }

    /// An origin can have free slots. As many of its blocked flows become ready.
    mutating func slotsFreed(at origin: Origin, _ slots: borrowing TransferSlots) {
        guard !blocked.isEmpty else { return }
        for _ in 0..<slots.free(at: origin) {
            guard let turn = blocked[origin].flatMap({ first(of: $0, at: origin, slots) })
            else { return }
            unblock(turn)
            ready.append(turn)
        }
    }

    /// All origins can have more slots.
    mutating func limitsRose(_ slots: borrowing TransferSlots) {
        for origin in Array(blocked.keys) { slotsFreed(at: origin, slots) }
    }
}

extension TransferQueue {
    /// Checks that every flow is either ready or blocked, and that no flow is blocked without a reason.
    func checkInvariants(_ slots: borrowing TransferSlots) {
        var (ready, blocked) = (ready, blocked)
        for (flow, tickets) in flows {
            precondition(!tickets.isEmpty, "\(flow) is empty")
            let isReady = ready.remove(flow.turn)
            let isBlocked = blocked.update(flow.origin) { $0.remove(flow.turn) } == true
            precondition(isBlocked != isReady, "\(flow) is both ready and blocked, or neither")
            precondition(
                !isBlocked || slots.free(at: flow.origin) == 0 || isReadyFlow(at: flow.origin)
                    || !slots.permitAnother(for: flow.client.user)
                    || flow.priority == .background && !slots.permitsPrefetches,
                "\(flow.origin) has a slot, but no flow is ready for it")
        }
        precondition(
            ready.isEmpty && blocked.values.allSatisfy(\.isEmpty), "a flow without tickets waits")
        precondition(clients.total == flows.count, "the flows of clients are miscounted")
    }

    private func isReadyFlow(at origin: Origin) -> Bool {
        var ready = ready
        return flows.keys.contains { $0.origin == origin && ready.remove($0.turn) }
    }
}
