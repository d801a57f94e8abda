import CacheKey
import TestSupport
import Testing

@testable import CacheCore

/// Random wishes for images of a few hosts: whatever comes, nothing visible waits for a prefetch.
@Suite("State: random hosts", .timeLimit(.minutes(5)))
struct RandomHostTests {
    @Test(arguments: [UInt64](1...12))
    func nothingVisibleWaitsForAPrefetch(seed: UInt64) throws {
        let limits = [(1, 1), (3, 2), (8, 3), (10, 4)][Int(seed % 4)]
        var script = RandomHosts(seed: seed, transferLimit: limits.0, hostLimit: limits.1)
        for _ in 0..<3000 { try script.event() }
        try script.end()
        #expect(script.stops > 0)
    }
}

private struct RandomHosts: ~Copyable {
    private var random: SeededGenerator
    private var state: CacheState
    private let urls: [CacheURL]
    private var callers: [WaiterID] = []
    /// Handed to the transfer loop, and not ended.
    private var transfers: [(url: CacheURL, id: FlightID)] = []
    private var stopping: Set<FlightID> = []
    private var publications: [(key: CacheKey, id: FlightID)] = []
    /// Prefetches that gave way.
    private(set) var stops = 0

    init(seed: UInt64, transferLimit: Int, hostLimit: Int) {
        random = SeededGenerator(seed: seed)
        state = CacheState(transferLimit: transferLimit, hostLimit: hostLimit)
        state.trust = .whole
        urls = (0..<60).compactMap { try? CacheURL("http://host\($0 % 5)/\($0)") }
    }

    mutating func event() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: call()
        case 25..<35: leave()
        case 35..<70: finish()
        case 70..<85: publish()
        default: progress()
        }
        try check()
    }

    /// All callers leave, and all that is under way ends.
    mutating func end() throws {
        while !callers.isEmpty { leave() }
        while !transfers.isEmpty || !publications.isEmpty {
            if transfers.isEmpty { publish() } else { finish() }
            try check()
        }
        #expect(state.flights.isEmpty && state.prefetches.isEmpty && state.queue.isEmpty)
    }

    private mutating func call() {
        let options = FetchOptions(
            priority: [.background, .background, .normal, .visible].randomElement(using: &random)
                ?? .normal, isRefresh: true,
            client: ClientID(rawValue: UInt64.random(in: 0..<3, using: &random)))
        let id = random.oneIn(4) ? nil : state.waiterBegan(options)
        if let id { callers.append(id) }
        let wishes = Int.random(in: 1...6, using: &random)
        if id == nil { _ = state.holdsAsked(wishes) }
        for _ in 0..<wishes {
            guard let url = urls.randomElement(using: &random) else { return }
            perform(
                state.wanted(
                    CacheKey(url), url, by: id, options, now: FileTime(nanoseconds: 7)))
        }
        perform(id.map { state.waiterNamed($0) } ?? state.holdsNamed(wishes))
    }

    private mutating func leave() {
        guard !callers.isEmpty else { return }
        let id = callers.remove(at: Int.random(in: callers.indices, using: &random))
        perform(state.waiterLeft(id))
    }

    private mutating func finish() {
        guard !transfers.isEmpty else { return }
        let (url, id) = transfers.remove(at: Int.random(in: transfers.indices, using: &random))
        let isStopped = stopping.remove(id) != nil
        let end: Result<StagedImage, Failure> =
            isStopped || random.oneIn(3)
            ? .failure(.http(404)) : .success(Sample.staged(url, id))
        perform(state.transferFinished(CacheKey(url), id, end))
    }

    private mutating func publish() {
        guard !publications.isEmpty else { return }
        let (key, id) = publications.removeFirst()
        perform(
            state.published(
                Publication(flight: id, key: key, result: .failure(Failure(.storage, "")))))
    }

    private mutating func progress() {
        guard let (url, id) = transfers.randomElement(using: &random) else { return }
        let received = Int64.random(in: 0..<1_000_000, using: &random)
        if received < state.flights[CacheKey(url)]?.received ?? 0 {
            perform(state.transferBegan(CacheKey(url), id, with: 0, of: 1_000_000))
        }
        perform(state.transferProgressed(CacheKey(url), id, received: received, total: 1_000_000))
    }

    private mutating func perform(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .startTransfer(let id, _, let url, _): transfers.append((url, id))
            case .cancelTransfer(let id, let key, _):
                stopping.insert(id)
                if state.flights[key] != nil { stops += 1 }
            case .publish(let image): publications.append((image.key, image.flight))
            default: break
            }
        }
    }

    private func check() throws {
        state.checkInvariants()
        let waiting = state.flights.values.filter { $0.phase == .queued && urgency($0) == .visible }
        let prefetches = state.flights.values.filter { flight in
            flight.phase.isRunning && urgency(flight) == .background && flight.preemptions < 3
                && (flight.total ?? .max) - flight.received >= PartialPolicy.smallRest
        }
        for image in waiting where stopping.isEmpty {
            // One client may not have all places for what is visible to it.
            let clients = lookers(at: image).filter {
                state.slots.mayPress($0, at: image.origin) && state.slots.mayPress($0)
            }
            let here = prefetches.filter { $0.origin == image.origin }
            #expect(
                here.isEmpty || clients.isEmpty, "\(image.url) waits for \(here.map(\.url))")
            let hasPlace = clients.contains {
                state.slots.admits($0, .visible, at: image.origin)
            }
            #expect(!hasPlace || prefetches.isEmpty, "\(image.url) waits for any")
        }
    }

    /// The clients to whom an image is visible.
    private func lookers(at image: Flight) -> [ClientID] {
        let callers = image.waiters.compactMap { state.waiters[$0] }
        let held =
            image.isDetached && image.detachedPriority == .visible ? [image.detachedClient] : []
        return callers.filter { $0.priority == .visible }.map(\.client) + held
    }

    private func urgency(_ flight: Flight) -> Priority { state.urgency(of: flight) }
}
