internal import CacheKey

/// Downloads that wait for a transfer slot, in the order in which they get one.
///
/// The next slot goes to the user who has the fewest downloads running; users with equally many
/// take turns. Among the downloads of that user, the most urgent start first. Prefetches start
/// after all other downloads, whoever wants those. So no user gains anything by more connections or
/// by a higher priority.
///
/// Each waiter of a download has a ticket for it, in the flow of its own client, priority and host.
/// So a shared download starts when the turn of its first ticket comes. It is as urgent as its most
/// urgent waiter, even as waiters join and leave.
struct TransferQueue: Sendable {
    private var queues: [UserID: UserQueue] = [:]
    /// The users who wait, in turn.
    private var users = LinkedSet<UserID>()

    /// The priorities of downloads that are not prefetches.
    private static let active = Priority.ranks[0]

    var isEmpty: Bool { users.isEmpty }

    /// Whether a visible download waits.
    var isVisibleWaiting: Bool { queues.values.contains { $0.count([.visible]) > 0 } }

    mutating func append(_ ticket: Ticket, _ flow: FlowKey, atFront: Bool = false) {
        users.append(flow.client.user)
        queues.update(flow.client.user, default: UserQueue()) {
            $0.append(ticket, flow, atFront: atFront)
        }
    }

    /// Removes a ticket, if it is in the queue.
    mutating func remove(_ ticket: Ticket, _ flow: FlowKey, _ slots: borrowing TransferSlots) {
        let user = flow.client.user
        let removal = queues.update(user) { queue in
            (leavesSlot: queue.remove(ticket, flow), isEmpty: queue.isEmpty)
        }
        guard let removal else { return }
        if removal.isEmpty {
            queues[user] = nil
            users.remove(user)
        }
        // The flow may have been unblocked for a slot that it does not need now.
        if removal.leavesSlot { slotFreed(at: flow.origin, slots) }
    }

    // MARK: Turns

    /// The download whose turn is next, and its flow. Its tickets stay until they are removed.
    mutating func next(_ slots: borrowing TransferSlots) -> (key: CacheKey, flow: FlowKey)? {
        for rank in Priority.ranks where rank.contains(where: { slots.hasSlot(for: $0) }) {
            guard let flow = nextTurn(rank, slots, for: { slots.admits($0, $1) }),
                let key = queues[flow.client.user]?.first(of: flow)
            else { continue }
            queues.update(flow.client.user) { $0.hadTurn(flow) }
            users.moveToEnd(flow.client.user)
            return (key, flow)
        }
        return nil
    }

    /// The flow whose turn is next, among clients that meet the condition. Clients that do not meet
    /// it have downloads running, so there are few of them. Flows whose host is full become
    /// blocked.
    ///
    /// - Parameter user: the only user to consider. `nil` for all.
    private mutating func nextTurn(
        _ rank: [Priority], of user: UserID? = nil, _ slots: borrowing TransferSlots,
        for condition: (ClientID, Priority) -> Bool
    ) -> FlowKey? {
        while let flow = firstReady(rank, of: user, slots, for: condition) {
            if slots.admits(flow.client, flow.priority, at: flow.origin) { return flow }
            queues.update(flow.client.user) { $0.block(flow) }
            // The flow may have been unblocked for a slot that another flow can have.
            slotFreed(at: flow.origin, slots)
        }
        return nil
    }

    private func firstReady(
        _ rank: [Priority], of user: UserID?, _ slots: borrowing TransferSlots,
        for condition: (ClientID, Priority) -> Bool
    ) -> FlowKey? {
        for user in user.map({ [$0] }) ?? inTurn(rank, slots) {
            for priority in rank {
                let flow = queues[user]?.first(priority) { condition($0, priority) }
                if let flow { return flow }
            }
        }
        return nil
    }

    /// The users who wait and may have another download, those with the fewest running downloads first.
    private func inTurn(_ rank: [Priority], _ slots: borrowing TransferSlots) -> [UserID] {
        let permitted = users.elements.filter { slots.permitAnother(for: $0) }
        guard permitted.count > 1 else { return permitted }
        let isActive = rank != [.background]
        let counted = permitted.enumerated().map { place, user in
            (user: user, count: isActive ? slots.active(user) : slots.all(user), place: place)
        }
        return counted.sorted { ($0.count, $0.place) < ($1.count, $1.place) }.map(\.user)
    }

    // MARK: Preemption

    /// The client whose visible download would be next if a slot were free. Only clients are
    /// considered that get a slot if `prefetches` prefetches stop.
    mutating func nextVisibleClient(
        _ slots: borrowing TransferSlots, ifPreempting prefetches: Int
    ) -> ClientID? {
        nextTurn([.visible], slots) { client, _ in slots.excess(for: client) <= prefetches }?.client
    }

    /// A client whose visible download is blocked because its host is full, and would get a slot if
    /// `prefetches` prefetches from that host stopped.
    func nextBlockedVisibleClient(
        at origin: Origin, _ slots: borrowing TransferSlots, ifPreempting prefetches: Int
    ) -> ClientID? {
        firstBlocked(at: origin, [.visible], slots) {
            max(slots.excess(for: $0, at: origin), slots.excess(for: $0)) <= prefetches
        }
    }

    private func firstBlocked(
        at origin: Origin, _ priorities: [Priority], _ slots: borrowing TransferSlots,
        where condition: (ClientID) -> Bool
    ) -> ClientID? {
        for user in inTurn(priorities, slots) {
            let client = queues[user]?.firstBlocked(at: origin, priorities, where: condition)
            if let client { return client }
        }
        return nil
    }

    // MARK: Shares of users

    /// The users whose downloads wait, those with the fewest running downloads first. Prefetches do
    /// not count.
    func waitingUsers(_ slots: borrowing TransferSlots) -> [UserID] {
        inTurn(Self.active, slots).filter { count(of: $0) > 0 }
    }

    /// The number of a user's downloads that wait, without prefetches.
    func count(of user: UserID) -> Int { queues[user]?.count(Self.active) ?? 0 }

    /// Whether a download of this user waits for nothing but one of the slots of all hosts.
    mutating func waitsForAnySlot(_ user: UserID, _ slots: borrowing TransferSlots) -> Bool {
        nextTurn(Self.active, of: user, slots) { _, _ in true } != nil
    }

    /// Whether a download of this user waits for a slot of the host.
    func waits(_ user: UserID, at origin: Origin) -> Bool {
        queues[user]?.firstBlocked(at: origin, Self.active) { _ in true } != nil
    }

    /// A client of this user that meets the condition, and whose download waits for a slot of the host, or of any
    /// host.
    func firstClient(
        of user: UserID, at origin: Origin?, where condition: (ClientID) -> Bool
    ) -> ClientID? {
        if let origin {
            return queues[user]?.firstBlocked(at: origin, Self.active, where: condition)
        }
        for priority in Self.active {
            if let flow = queues[user]?.first(priority, for: condition) { return flow.client }
        }
        return nil
    }

    // MARK: Blocked flows

    /// A host has a free slot. Unblocks flows that can have it, those of each user up to one whose client has nothing
    /// running.
    mutating func slotFreed(at origin: Origin, _ slots: borrowing TransferSlots) {
        for rank in Priority.ranks {
            var isWanted = false
            for user in users.elements {
                if queues.update(user, { $0.slotFreed(at: origin, rank, slots) }) == true {
                    isWanted = true
                }
            }
            if isWanted { return }
        }
    }

    /// A client that had nothing running has a download now. It may no longer be admitted, while a client behind it
    /// is that waits for the same slot of a host.
    mutating func clientStarted(_ client: ClientID, _ slots: borrowing TransferSlots) {
        guard queues.values.contains(where: \.hasBlocked) else { return }
        for origin in queues[client.user]?.origins(of: client) ?? [] {
            slotFreed(at: origin, slots)
        }
    }

    /// A host has many more slots, so all flows that are blocked for it are tried.
    mutating func limitRose(at origin: Origin, _ slots: borrowing TransferSlots) {
        let waiting = queues.values.reduce(0) { $0 + $1.blockedCount(at: origin) }
        for _ in 0..<waiting { slotFreed(at: origin, slots) }
    }

    /// All hosts can have more slots.
    mutating func limitsRose(_ slots: borrowing TransferSlots) {
        let origins = queues.values.reduce(into: Set<Origin>()) { $0.formUnion($1.blockedOrigins) }
        for origin in origins { limitRose(at: origin, slots) }
    }
}

extension TransferQueue {
    /// Checks that every flow is either ready or blocked, and that no flow is blocked without a reason.
    func checkInvariants(_ slots: borrowing TransferSlots) {
        precondition(Set(users.elements) == Set(queues.keys), "a user has no turn")
        for queue in queues.values {
            precondition(!queue.isEmpty, "a user has a turn who waits for nothing")
            queue.checkInvariants()
        }
        let blocked = queues.values.reduce(into: Set<Origin>()) { $0.formUnion($1.blockedOrigins) }
        for origin in blocked { checkBlocked(at: origin, slots) }
    }

    private func checkBlocked(at origin: Origin, _ slots: borrowing TransferSlots) {
        var waiting = self
        waiting.slotFreed(at: origin, slots)
        let isFreed = waiting.blockedCount(at: origin) != blockedCount(at: origin)
        let here = queues.values.flatMap(\.allFlows).filter { $0.flow.origin == origin }
        precondition(
            !isFreed || here.contains { !$0.isBlocked },
            "\(origin) has a slot, but no flow is unblocked for it")
        let admitted = here.filter { flow, _ in
            slots.hasSlot(for: flow.priority) && slots.admits(flow.client, flow.priority)
                && slots.admits(flow.client, flow.priority, at: origin)
        }
        precondition(
            admitted.isEmpty || !admitted.allSatisfy(\.isBlocked),
            "\(admitted) can start, but all of them are blocked")
    }

    private func blockedCount(at origin: Origin) -> Int {
        queues.values.reduce(0) { $0 + $1.blockedCount(at: origin) }
    }
}
