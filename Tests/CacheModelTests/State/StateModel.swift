import CacheKey
import CacheValues

@testable import CacheDisk
@testable import CacheFetching

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
        var isPrefetch: Bool { priority == .background }
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
    /// Clients with waits, in the order of their turns: those of prefetches (`true`) and those of everything else.
    private var turns: [Bool: [UInt64]] = [:]

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
        for isPrefetch in [false, true] {
            turns[isPrefetch]?.removeAll { client in
                !places.contains { $0.client == client && $0.isPrefetch == isPrefetch }
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
        case .connecting, .receiving, .deriving:
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

    /// While a client waits and no slot is about to be free, a prefetch stops, or a download of a client that has several
    /// if the one that waits has none. All clients are of one user.
    private mutating func gaveWay() -> [String] {
        guard stopping.isEmpty, !isDraining, running >= limit, let client = first(of: false) else {
            return []
        }
        let candidates = flights.filter { $0.value.phase.isRunning }.compactMap { image, flight in
            rank(of: flight, for: client).map { (image: image, flight: flight, rank: $0) }
        }
        guard let (image, flight, _) = candidates.min(by: { $0.rank < $1.rank }) else { return [] }
        let isPrefetch = urgency(flight) == .background
        if let owner = taken[flight.id]?.client {
            for rank in [false, true] { moveToEnd(owner, rank) }
        }
        // The waiters wait for the next download, whose identity the state chooses.
        flights[image] = Flight(
            id: 0, waiting: flight.waiting, held: flight.held, detachedClient: flight.detachedClient
        )
        for caller in flight.waiting.sorted() {
            guard let who = callers[caller] else { continue }
            lineUp(
                Place(image: image, caller: caller, client: who.client, priority: who.priority),
                atFront: isPrefetch)
        }
        if let held = flight.held {
            lineUp(
                Place(image: image, caller: nil, client: flight.detachedClient, priority: held),
                atFront: isPrefetch)
        }
        return [stopped(flight.id)]
    }

    /// The cost of stopping a download for a client. `nil` if it does not stop.
    private func rank(of flight: Flight, for client: UInt64) -> (Int, Int, Int64, UInt64)? {
        guard let owner = taken[flight.id]?.client else { return nil }
        let isPrefetch = urgency(flight) == .background
        let isWanted =
            flight.held != nil && flight.detachedClient == client
            || flight.waiting.contains { callers[$0]?.client == client }
        let gives = owner != client && active(client) == 0 && active(owner) > 1 && !isWanted
        guard isPrefetch || gives else { return nil }
        return (isPrefetch ? 0 : 2, -active(owner), flight.received, .max - flight.id)
    }

    private func urgency(_ flight: Flight) -> Priority {
        (flight.waiting.compactMap { callers[$0]?.priority } + [flight.held ?? .background]).max()
            ?? .background
    }

    private mutating func lineUp(_ place: Place, atFront: Bool = false) {
        if atFront { places.insert(place, at: 0) } else { places.append(place) }
        if turns[place.isPrefetch]?.contains(place.client) != true {
            turns[place.isPrefetch, default: []].append(place.client)
        }
    }

    private mutating func moveToEnd(_ client: UInt64, _ isPrefetch: Bool) {
        guard turns[isPrefetch]?.contains(client) == true else { return }
        turns[isPrefetch]?.removeAll { $0 == client }
        turns[isPrefetch]?.append(client)
    }

    /// Returns the first wait of the client whose turn it is. That client's next turn comes after those of all others.
    private mutating func nextPlace() -> Place? {
        for isPrefetch in [false, true] {
            guard let client = first(of: isPrefetch) else { continue }
            moveToEnd(client, isPrefetch)
            let own = places.filter { $0.client == client && $0.isPrefetch == isPrefetch }
            let urgency = own.map(\.priority).max()
            return own.first { $0.priority == urgency }
        }
        return nil
    }

    /// The client whose turn it is: one that has nothing running, if there is any.
    private func first(of isPrefetch: Bool) -> UInt64? {
        turns[isPrefetch]?.first { active($0) == 0 } ?? turns[isPrefetch]?.first
    }

    /// The running downloads of a client, without prefetches.
    private func active(_ client: UInt64) -> Int {
        taken.values.count { $0.client == client && !$0.isPrefetch }
    }
}
