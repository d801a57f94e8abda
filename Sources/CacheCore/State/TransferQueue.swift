internal import CacheKey

/// Downloads that wait for a free transfer, in the order they will have one: the most urgent first;
/// among equals clients take turns; a client's own in the order it named them.
///
/// Each caller who waits for a download has a place for it, in the line of his client for that host
/// under his own priority. So a shared download starts when the first of these places comes round, and
/// is as urgent as the most urgent of those who still wait for it, however they come and go.
///
/// A line whose host has no place for it steps aside, and back when the host has one: for each place that
/// becomes free as many as it takes to find a client that has nothing under way. No step depends on how many
/// wait: each of the others has downloads.
struct TransferQueue: Sendable {
    /// One caller's wait for one download; the daemon's own wait has no caller.
    struct Place: Hashable, Sendable {
        let key: CacheKey
        let waiter: WaiterID?
    }

    /// The line a place is in.
    struct FlowKey: Hashable, Sendable {
        let priority: Priority
        let client: ClientID
        let origin: Origin
    }

    /// Where lines stepped aside to.
    fileprivate struct BlockedFlows: Hashable, Sendable {
        let priority: Priority
        let origin: Origin
    }

    private var lines: [FlowKey: LinkedSet<Place>] = [:]
    /// Lines that may have their turn, by priority.
    private var turns = [RoundRobin<Origin>](
        repeating: RoundRobin(), count: Priority.allCases.count)
    /// The clients of lines that stepped aside.
    private var aside: [BlockedFlows: LinkedSet<ClientID>] = [:]
    /// Lines of what is visible.
    private var visibleLines = 0

    var isEmpty: Bool { lines.isEmpty }

    /// Whether anything visible waits.
    var isVisibleWaiting: Bool { visibleLines > 0 }

    /// Whether anything visible would have its turn, were a prefetch to stop. Lines whose host is full
    /// step aside.
    mutating func isVisibleNext(_ slots: borrowing TransferSlots) -> Bool {
        nextTurn(.visible, slots) { slots.mayPress($0) } != nil
    }

    /// Whether anything visible would have a place at this host, were a prefetch there to stop.
    func isVisibleAside(_ origin: Origin, _ slots: borrowing TransferSlots) -> Bool {
        aside[BlockedFlows(priority: .visible, origin: origin)]?
            .first { slots.mayPress($0, at: origin) && slots.mayPress($0) } != nil
    }

    /// Puts a place at the end of its line, or at the front.
    mutating func append(_ place: Place, _ lane: FlowKey, atFront: Bool = false) {
        if lines[lane] == nil {
            turns[lane.index].append(lane.client, lane.origin)
            if lane.priority == .visible { visibleLines += 1 }
        }
        if atFront {
            lines.update(lane, default: LinkedSet()) { $0.prepend(place) }
        } else {
            lines.update(lane, default: LinkedSet()) { $0.append(place) }
        }
    }

    /// Takes a place out of its line, if it is there.
    mutating func remove(_ place: Place, _ lane: FlowKey, _ slots: borrowing TransferSlots) {
        let isLast = lines.update(lane) { $0.remove(place) && $0.isEmpty }
        guard isLast == true else { return }
        lines[lane] = nil
        if lane.priority == .visible { visibleLines -= 1 }
        if turns[lane.index].remove(lane.client, lane.origin) {
            // It may have been let in for a place it does not take now.
            roomGrew(at: lane.origin, slots)
        } else {
            standUp(lane.client, from: lane.bench)
        }
    }

    /// The download whose turn it is, and the line it is in. Its places stay until they are removed.
    mutating func next(_ slots: borrowing TransferSlots) -> (key: CacheKey, lane: FlowKey)? {
        for priority in Priority.allCases.reversed() where slots.hasRoom(for: priority) {
            guard let lane = nextTurn(priority, slots, for: { slots.admits($0, priority) }),
                let key = lines[lane]?.first?.key
            else { continue }
            turns[priority.index].hadTurn(lane.client)
            return (key, lane)
        }
        return nil
    }

    /// The line whose turn it is among clients for whom that holds. Those for whom it does not have downloads
    /// under way, so that there are never many. Lines whose host is full step aside.
    private mutating func nextTurn(
        _ priority: Priority, _ slots: borrowing TransferSlots, for holds: (ClientID) -> Bool
    ) -> FlowKey? {
        while let (client, origin) = turns[priority.index].first(where: holds) {
            let lane = FlowKey(priority: priority, client: client, origin: origin)
            if slots.admits(client, priority, at: origin) { return lane }
            stepAside(lane)
            // It may have been let in for a place that it may not have any more, and another may.
            roomGrew(at: origin, slots)
        }
        return nil
    }

    /// A host has room for one more: the most urgent lines that may have it come back, up to one that may
    /// begin if any may.
    mutating func roomGrew(at origin: Origin, _ slots: borrowing TransferSlots) {
        for priority in Priority.allCases.reversed() where slots.hasRoom(for: priority, at: origin)
        {
            let bench = BlockedFlows(priority: priority, origin: origin)
            while let client = aside[bench]?.first(where: {
                slots.admits($0, priority, at: origin)
            }) {
                standUp(client, from: bench)
                turns[priority.index].append(client, origin)
                if slots.isNew(client) { return }
            }
        }
    }

    /// A host has room for many more: all lines that wait for it come back.
    mutating func limitRose(at origin: Origin, _ slots: borrowing TransferSlots) {
        let waiting = Priority.allCases.reduce(0) { sum, priority in
            sum + (aside[BlockedFlows(priority: priority, origin: origin)]?.count ?? 0)
        }
        for _ in 0..<waiting { roomGrew(at: origin, slots) }
    }

    private mutating func stepAside(_ lane: FlowKey) {
        _ = turns[lane.index].remove(lane.client, lane.origin)
        aside.update(lane.bench, default: LinkedSet()) { $0.append(lane.client) }
    }

    private mutating func standUp(_ client: ClientID, from bench: BlockedFlows) {
        let isLast = aside.update(bench) { line in
            line.remove(client)
            return line.isEmpty
        }
        if isLast == true { aside[bench] = nil }
    }
}

extension TransferQueue.FlowKey {
    fileprivate var index: Int { priority.index }
    fileprivate var bench: TransferQueue.BlockedFlows { .init(priority: priority, origin: origin) }
}

extension Priority {
    /// Its place among all.
    var index: Int { Int(rawValue) }
}

extension TransferQueue {
    /// Checks that every line is to be found, and that nothing steps aside for want of nothing.
    func checkInvariants(_ slots: borrowing TransferSlots) {
        var copy = self
        let visible = lines.keys.count { $0.priority == .visible }
        precondition(visible == visibleLines, "\(visible) visible lines, \(visibleLines) counted")
        for (lane, line) in lines {
            precondition(!line.isEmpty, "\(lane) is empty")
            let isAside = aside[lane.bench]?.contains(lane.client) == true
            let isReady = copy.turns[lane.index].remove(lane.client, lane.origin)
            precondition(isAside != isReady, "\(lane) is in both places or none")
        }
        precondition(copy.turns.allSatisfy(\.isEmpty), "a turn without a line")
        let asideCount = aside.values.reduce(0) { $0 + $1.count }
        precondition(asideCount <= lines.count, "a line that stepped aside is gone")
        for origin in Set(aside.keys.map(\.origin)) {
            var waiting = self
            waiting.roomGrew(at: origin, slots)
            let isCalled = waiting.aside.mapValues(\.count) != aside.mapValues(\.count)
            let isReady = lines.keys.contains { lane in
                lane.origin == origin && aside[lane.bench]?.contains(lane.client) != true
            }
            precondition(!isCalled || isReady, "\(origin) has room, and nobody is let in")
            let mayBegin = lines.keys.filter { lane in
                lane.origin == origin && slots.hasRoom(for: lane.priority)
                    && slots.admits(lane.client, lane.priority)
                    && slots.admits(lane.client, lane.priority, at: origin)
            }
            let areAside = mayBegin.allSatisfy { aside[$0.bench]?.contains($0.client) == true }
            precondition(mayBegin.isEmpty || !areAside, "\(mayBegin) may begin, and all are aside")
        }
    }
}
