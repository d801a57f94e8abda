import CacheKey

@testable import CacheCore
@testable import CacheModel

/// A simple model of the decisions of a cache state. Images and callers are
/// numbers, and every search is linear.
struct StateModel {
    struct Flight {
        var id: UInt64
        var phase = Phase.queued
        var waiting: Set<Int> = []
        /// The priority of the daemon's own detached wait, if there is one.
        var held: Priority?
        var detachedClient: UInt64 = 0
        var isRemovalPending = false
        var received: Int64 = 0
        /// The download is so nearly complete that it continues without waiters.
        var isNearlyThrough: Bool { received == 990_000 }
    }

    /// A wait for a queued download. A detached wait has no caller.
    struct Place {
        let image: Int
        let caller: Int?
        let client: UInt64
        let priority: Priority
    }

    struct Caller {
        let client: UInt64
        let priority: Priority
        var pending: Set<Int> = []
        var failed: [Int: Failure.Kind] = [:]
        var isComplete = false
    }

    let limit: Int
    var cached: Set<Int> = []
    var flights: [Int: Flight] = [:]
    var callers: [Int: Caller] = [:]
    var running = 0
    /// Downloads that were cancelled and have not stopped yet.
    private var stopping: Set<UInt64> = []
    /// Running downloads, by the wait that started them.
    private var taken: [UInt64: Place] = [:]
    var isDraining = false
    /// Waits in the order of arrival.
    private var places: [Place] = []
    /// Clients with waits, in the order of their turns.
    private var turns: [Priority: [UInt64]] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    mutating func wanted(
        _ image: Int, by caller: Int?, _ options: FetchOptions, id: UInt64
    ) -> [String] {
        if !options.isRefresh, cached.contains(image) { return [] }
        guard !isDraining else {
            if let caller { callers[caller]?.failed[image] = .shuttingDown }
            return []
        }
        var flight = flights[image] ?? Flight(id: id)
        flight.isRemovalPending = false
        let isNews: Bool
        if let caller {
            isNews = flight.waiting.insert(caller).inserted
            callers[caller]?.pending.insert(image)
        } else {
            isNews = flight.held.map { options.priority > $0 } ?? true
            if isNews {
                flight.held = options.priority
                flight.detachedClient = options.client.rawValue
                leave { $0.image == image && $0.caller == nil }
            }
        }
        flights[image] = flight
        if isNews, flight.phase == .queued {
            let client = options.client.rawValue
            lineUp(
                Place(image: image, caller: caller, client: client, priority: options.priority))
        }
        return startedQueued()
    }

    private mutating func leave(where isGone: (Place) -> Bool) {
        places.removeAll(where: isGone)
        for priority in Priority.allCases {
            turns[priority]?.removeAll { client in
                !places.contains { $0.client == client && $0.priority == priority }
            }
        }
    }

    mutating func named(_ caller: Int?) -> [String] {
        let said = gaveWay()
        guard let caller else { return said }
        callers[caller]?.isComplete = true
        return said + told(caller)
    }

    mutating func left(_ caller: Int) -> [String] {
        guard let gone = callers.removeValue(forKey: caller) else { return [] }
        leave { $0.caller == caller }
        var said: [String] = []
        for image in gone.pending {
            flights[image]?.waiting.remove(caller)
            guard let flight = flights[image], flight.waiting.isEmpty, flight.held == nil else {
                continue
            }
            guard flight.phase != .publishing else { continue }
            if flight.isNearlyThrough {
                flights[image]?.held = .background
                continue
            }
            flights[image] = nil
            if flight.phase != .queued { said.append(stopped(flight.id)) }
        }
        return said + started()
    }

    mutating func finished(_ image: Int, _ id: UInt64, _ failure: Failure.Kind?) -> [String] {
        running -= 1
        stopping.remove(id)
        taken[id] = nil
        guard flights[image]?.id == id else { return started() }
        flights[image]?.phase = .publishing
        let said = started()
        guard let failure else { return said + ["publish \(id)"] }
        // Every failure here is a 404: the origin reports that the image is gone.
        let isGone = cached.remove(image) != nil
        return said + ended(image, failure) + (isGone ? ["unlink \(image)"] : [])
    }

    mutating func published(_ image: Int, _ failure: Failure.Kind?) -> [String] {
        let end = publicationEnded(image, failure)
        return end + started()
    }

    private mutating func publicationEnded(_ image: Int, _ failure: Failure.Kind?) -> [String] {
        if let failure {
            let goes = flights[image]?.isRemovalPending == true
            return (goes ? ["unlink \(image)"] : []) + ended(image, failure)
        }
        if flights[image]?.isRemovalPending == true {
            return ["unlink \(image)"] + ended(image, .removed)
        }
        cached.insert(image)
        return ended(image, nil)
    }

    mutating func removed(_ image: Int) -> [String] {
        var said: [String] = []
        switch flights[image]?.phase {
        case nil: break
        case .publishing: flights[image]?.isRemovalPending = true
        case .queued, .retrying: said += ["discard \(image)"] + ended(image, .removed)
        case .connecting, .receiving:
            said += ["discard and " + stopped(flights[image]!.id)] + ended(image, .removed)
        }
        // The publication replaces the file, or removes it.
        let goes = flights[image]?.phase != .publishing
        if cached.remove(image) != nil, goes { said.append("unlink \(image)") }
        return said
    }

    mutating func drained() -> [String] {
        isDraining = true
        var said: [String] = []
        for (image, flight) in flights where flight.phase != .publishing {
            if flight.phase != .queued { said.append(stopped(flight.id)) }
            said += ended(image, .shuttingDown)
        }
        return said
    }

    private mutating func ended(_ image: Int, _ failure: Failure.Kind?) -> [String] {
        guard let flight = flights.removeValue(forKey: image) else { return ["ended twice"] }
        leave { $0.image == image }
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

    private mutating func started() -> [String] { startedQueued() + gaveWay() }

    private mutating func startedQueued() -> [String] {
        var said: [String] = []
        while running < limit, !isDraining {
            guard let place = nextPlace(), let flight = flights[place.image] else { break }
            let image = place.image
            taken[flight.id] = place
            leave { $0.image == image }
            flights[image]?.phase = .connecting
            running += 1
            said.append("start \(flight.id)")
        }
        return said
    }

    private mutating func stopped(_ id: UInt64) -> String {
        stopping.insert(id)
        return "cancel \(id)"
    }

    /// If a visible download waits and no slot is about to be free, the prefetch with the fewest
    /// bytes stops, provided that enough prefetches can stop.
    private mutating func gaveWay() -> [String] {
        guard stopping.isEmpty, !isDraining else { return [] }
        let prefetches = flights.filter {
            $0.value.phase.isRunning && urgency($0.value) == .background
        }
        guard
            let client = turns[.visible]?.first(where: { excess($0) <= prefetches.count }),
            excess(client) > 0
        else { return [] }
        let order = { (flight: Flight) in (flight.received, .max - flight.id) }
        guard let (image, flight) = prefetches.min(by: { order($0.value) < order($1.value) }) else {
            return []
        }
        // The waiters wait for the next download, whose identity the state chooses.
        flights[image] = Flight(
            id: 0, waiting: flight.waiting, held: flight.held, detachedClient: flight.detachedClient
        )
        for caller in flight.waiting.sorted() {
            guard let who = callers[caller] else { continue }
            lineUp(
                Place(image: image, caller: caller, client: who.client, priority: who.priority),
                atFront: true)
        }
        if let held = flight.held {
            lineUp(
                Place(image: image, caller: nil, client: flight.detachedClient, priority: held),
                atFront: true)
        }
        return [stopped(flight.id)]
    }

    private func urgency(_ flight: Flight) -> Priority {
        (flight.waiting.compactMap { callers[$0]?.priority } + [flight.held ?? .background]).max()
            ?? .background
    }

    private mutating func lineUp(_ place: Place, atFront: Bool = false) {
        if atFront { places.insert(place, at: 0) } else { places.append(place) }
        if turns[place.priority]?.contains(place.client) != true {
            turns[place.priority, default: []].append(place.client)
        }
    }

    /// Returns the first wait of the client whose turn it is, at the highest priority for which a
    /// slot is free. That client's next turn comes after those of all others.
    private mutating func nextPlace() -> Place? {
        for priority in Priority.allCases.reversed() {
            guard let client = turns[priority]?.first(where: { isAdmitted($0, priority) }) else {
                continue
            }
            turns[priority]?.removeAll { $0 == client }
            turns[priority]?.append(client)
            return places.first { $0.client == client && $0.priority == priority }
        }
        return nil
    }

    /// One slot in eight, and at least one of two, is for clients that have nothing but prefetches
    /// running.
    private func isAdmitted(_ client: UInt64, _ priority: Priority) -> Bool {
        let reserve = limit < 2 ? 0 : max(1, limit / 8)
        if running < limit - reserve { return true }
        return priority != .background && isNewcomer(client) && running < limit
    }

    private func isNewcomer(_ client: UInt64) -> Bool {
        !taken.values.contains { $0.client == client && $0.priority != .background }
    }

    /// How many prefetches have to stop before a visible download of this client starts.
    private func excess(_ client: UInt64) -> Int {
        let reserve = limit < 2 ? 0 : max(1, limit / 8)
        return max(0, running + 1 - (isNewcomer(client) ? limit : limit - reserve))
    }
}
