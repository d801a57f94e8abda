import CacheKey

@testable import CacheCore

/// What a cache state should decide, written down as plainly as possible: images and callers are
/// numbers, every search goes through all there is.
struct StateModel {
    struct Flight {
        let id: UInt64
        var phase = Phase.queued
        var waiting: Set<Int> = []
        var isHeld = false
        var isUnwanted = false
        /// So little is missing that it is finished for nobody.
        var isNearlyThrough = false
        var priority: Priority
        /// When it was queued under its priority.
        var turn: Int
    }

    struct Caller {
        var pending: Set<Int> = []
        var failed: [Int: Failure.Kind] = [:]
        var isComplete = false
    }

    let limit: Int
    var cached: Set<Int> = []
    var flights: [Int: Flight] = [:]
    var callers: [Int: Caller] = [:]
    var running = 0
    var isDraining = false
    private var turn = 0

    init(limit: Int) {
        self.limit = limit
    }

    mutating func wanted(
        _ image: Int, by caller: Int?, _ priority: Priority, isRefresh: Bool, id: UInt64
    ) -> [String] {
        if !isRefresh, cached.contains(image) { return [] }
        guard !isDraining else {
            if let caller { callers[caller]?.failed[image] = .shuttingDown }
            return []
        }
        turn += 1
        var flight = flights[image] ?? Flight(id: id, priority: priority, turn: turn)
        flight.isUnwanted = false
        if priority > flight.priority {
            flight.priority = priority
            flight.turn = turn
        }
        if let caller { flight.waiting.insert(caller) } else { flight.isHeld = true }
        if let caller { callers[caller]?.pending.insert(image) }
        flights[image] = flight
        return started()
    }

    mutating func named(_ caller: Int) -> [String] {
        callers[caller]?.isComplete = true
        return told(caller)
    }

    mutating func left(_ caller: Int) -> [String] {
        guard let gone = callers.removeValue(forKey: caller) else { return [] }
        var said: [String] = []
        for image in gone.pending {
            flights[image]?.waiting.remove(caller)
            guard let flight = flights[image], flight.waiting.isEmpty, !flight.isHeld else {
                continue
            }
            guard flight.phase != .publishing else { continue }
            if flight.isNearlyThrough {
                flights[image]?.isHeld = true
                continue
            }
            flights[image] = nil
            if flight.phase != .queued { said.append("cancel \(flight.id)") }
        }
        return said
    }

    mutating func finished(_ image: Int, _ id: UInt64, _ failure: Failure.Kind?) -> [String] {
        running -= 1
        let said = started()
        guard let flight = flights[image], flight.id == id else { return said }
        guard let failure else {
            flights[image]?.phase = .publishing
            return said + ["publish \(id)"]
        }
        return said + ended(image, failure)
    }

    mutating func published(_ image: Int, _ failure: Failure.Kind?) -> [String] {
        if let failure {
            let goes = flights[image]?.isUnwanted == true
            return (goes ? ["unlink \(image)"] : []) + ended(image, failure)
        }
        if flights[image]?.isUnwanted == true {
            return ["unlink \(image)"] + ended(image, .removed)
        }
        cached.insert(image)
        return ended(image, nil)
    }

    mutating func removed(_ image: Int) -> [String] {
        var said: [String] = []
        switch flights[image]?.phase {
        case nil: break
        case .publishing: flights[image]?.isUnwanted = true
        case .queued: said += ["discard \(image)"] + ended(image, .removed)
        case .connecting, .receiving:
            said += ["discard and cancel \(flights[image]!.id)"] + ended(image, .removed)
        }
        // What is being published replaces the file, or takes it along.
        let goes = flights[image]?.phase != .publishing
        if cached.remove(image) != nil, goes { said.append("unlink \(image)") }
        return said
    }

    mutating func drained() -> [String] {
        isDraining = true
        var said: [String] = []
        for (image, flight) in flights where flight.phase != .publishing {
            if flight.phase != .queued { said.append("cancel \(flight.id)") }
            said += ended(image, .shuttingDown)
        }
        return said
    }

    private mutating func ended(_ image: Int, _ failure: Failure.Kind?) -> [String] {
        guard let flight = flights.removeValue(forKey: image) else { return ["ended twice"] }
        return flight.waiting.flatMap { caller -> [String] in
            callers[caller]?.pending.remove(image)
            callers[caller]?.failed[image] = failure
            return told(caller)
        }
    }

    private mutating func told(_ id: Int) -> [String] {
        guard let caller = callers[id], caller.isComplete, caller.pending.isEmpty else { return [] }
        callers[id] = nil
        let failures = caller.failed.map { "\($0.key) \($0.value)" }.sorted()
        return ["tell \(id): \(failures.joined(separator: ", "))"]
    }

    private mutating func started() -> [String] {
        var said: [String] = []
        while running < limit, !isDraining {
            let next = flights.filter { $0.value.phase == .queued }.max { left, right in
                (left.value.priority, -left.value.turn) < (right.value.priority, -right.value.turn)
            }
            guard let (image, flight) = next else { break }
            flights[image]?.phase = .connecting
            running += 1
            said.append("start \(flight.id)")
        }
        return said
    }
}
