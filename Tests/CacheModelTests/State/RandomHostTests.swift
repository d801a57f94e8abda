import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Random requests for images of a few hosts, which sometimes ask for a pause. Nothing ever waits for a
/// prefetch, and nothing waits for ever.
@Suite("State: random hosts", .timeLimit(.minutes(5)))
struct RandomHostTests {
    @Test(arguments: [UInt64](1...12))
    func nothingWaitsForAPrefetch(seed: UInt64) throws {
        let limits = [(1, 1), (2, 1), (3, 2), (4, 2)][Int(seed % 4)]
        var script = RandomHosts(seed: seed, transferLimit: limits.0, originLimit: limits.1)
        for _ in 0..<3000 { try script.event() }
        try script.end()
        #expect(script.stops > 0)
    }

    /// Two users, whose downloads also stop for each other.
    @Test(arguments: [UInt64](13...24))
    func nothingWaitsForEverWithSeveralUsers(seed: UInt64) throws {
        let limits = [(1, 1), (2, 1), (3, 2), (4, 2)][Int(seed % 4)]
        var script = RandomHosts(
            seed: seed, transferLimit: limits.0, originLimit: limits.1, hasUsers: true)
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
    /// Downloads that the transfer loop runs.
    private var transfers: [(url: CacheURL, id: FlightID)] = []
    private var stopping: Set<FlightID> = []
    /// Lookups that cancelled downloads left behind.
    private var lookups: [FlightID] = []
    private var publications: [(key: CacheKey, id: FlightID)] = []
    private var now = Sample.moment
    /// The number of preempted prefetches.
    private(set) var stops = 0

    /// Whether the callers are of two users.
    private let hasUsers: Bool

    init(seed: UInt64, transferLimit: Int, originLimit: Int, hasUsers: Bool = false) {
        self.hasUsers = hasUsers
        random = SeededGenerator(seed: seed)
        state = CacheState(
            FetchingState(
                transferLimit: transferLimit, originLimit: originLimit, retry: RetryPolicy()))
        state.disk.validity = .complete
        urls = (0..<60).compactMap { try? CacheURL("http://host\($0 % 5)/\($0)") }
    }

    mutating func event() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: call()
        case 25..<35: leave()
        case 35..<70: finish()
        case 70..<85: publish()
        case 85..<90: pass()
        case 95..<98 where hasUsers: endLookup()
        default: progress()
        }
        try check()
    }

    /// All callers leave, and all downloads end.
    mutating func end() throws {
        while !callers.isEmpty { leave() }
        while !state.fetching.downloads.isEmpty || !transfers.isEmpty || !publications.isEmpty {
            if !lookups.isEmpty, random.oneIn(4) { endLookup() }
            if !transfers.isEmpty {
                finish()
            } else if !publications.isEmpty {
                publish()
            } else {
                pass()
            }
            try check()
        }
        while !lookups.isEmpty { endLookup() }
        #expect(state.fetching.downloads.isEmpty && state.fetching.scheduler.isQueueEmpty)
        #expect(state.fetching.scheduler.slots.abandonedLookups.counts.total == 0)
    }

    private mutating func call() {
        let options = FetchOptions(
            priority: [.background, .background, .normal, .visible].randomElement(using: &random)
                ?? .normal, isRefresh: true,
            client: client())
        let id = random.oneIn(4) ? nil : state.fetching.waiterBegan(options)
        if let id { callers.append(id) }
        let imageRequests = Int.random(in: 1...6, using: &random)
        if id == nil { _ = state.fetching.detachedAnnounced(imageRequests) }
        for _ in 0..<imageRequests {
            guard let url = urls.randomElement(using: &random) else { return }
            perform {
                $0.fetching.requested(
                    CacheKey(url), url, by: id, options, now: FileTime(nanoseconds: 7), &$1)
            }
        }
        perform { state, effects in
            if let id {
                state.fetching.waiterNamed(id, &effects)
            } else {
                state.fetching.detachedNamed(imageRequests, &effects)
            }
        }
    }

    /// One of three connections, two of which may be of one user.
    private mutating func client() -> ClientID {
        let number = UInt64.random(in: 0..<3, using: &random)
        return ClientID(
            rawValue: number, user: UserID(rawValue: hasUsers && number == 2 ? 1002 : 1001))
    }

    private mutating func leave() {
        guard !callers.isEmpty else { return }
        let id = callers.remove(at: Int.random(in: callers.indices, using: &random))
        perform { $0.fetching.waiterLeft(id, &$1) }
    }

    private mutating func finish() {
        guard !transfers.isEmpty else { return }
        let (url, id) = transfers.remove(at: Int.random(in: transfers.indices, using: &random))
        let isStopped = stopping.remove(id) != nil
        if isStopped, hasUsers, random.oneIn(2) {
            lookups.append(id)
            return perform { $0.fetching.transferAbandoned(id, &$1) }
        }
        let fails = isStopped || random.oneIn(3)
        let failure: Failure =
            isStopped ? .removed : .http(random.oneIn(3) ? 429 : 404)
        var other = SeededGenerator(seed: random.next())
        perform { [now] state, effects in
            if fails {
                state.transferFailed(
                    CacheKey(url), id, FailedTransfer(failure: failure), now: now, using: &other,
                    &effects)
            } else {
                state.fetching.imageStaged(CacheKey(url), id, size: 1000, &effects)
            }
        }
    }

    private mutating func endLookup() {
        guard !lookups.isEmpty else { return }
        let id = lookups.remove(at: Int.random(in: lookups.indices, using: &random))
        perform { $0.fetching.lookupEnded(id, &$1) }
    }

    /// Enough time for the shortest pauses.
    private mutating func pass() {
        now = now + .seconds(2)
        perform { [now] in $0.fetching.pausesEnded(now: now.instant, &$1) }
        if hasUsers { perform { [now] in $0.fetching.paceMeasured(now: now.instant, &$1) } }
    }

    private mutating func publish() {
        guard !publications.isEmpty else { return }
        let (key, id) = publications.removeFirst()
        let lost = Publication(flight: id, key: key, result: .failure(Failure(.storage, "")))
        perform { $0.published(lost, &$1) }
    }

    private mutating func progress() {
        guard let (url, id) = transfers.randomElement(using: &random) else { return }
        let received = Int64.random(in: 0..<1_000_000, using: &random)
        if received < state.fetching.downloads[CacheKey(url)]?.intake.received ?? 0 {
            perform { $0.fetching.transferBegan(CacheKey(url), id, with: 0, of: 1_000_000, &$1) }
        }
        perform {
            $0.fetching.transferProgressed(
                CacheKey(url), id, received: received, total: 1_000_000, &$1)
        }
    }

    private mutating func perform(_ event: (inout CacheState, inout Effects) -> Void) {
        var effects = Effects()
        event(&state, &effects)
        for work in effects.work {
            switch work {
            case .startTransfer(let id, _, let url, _): transfers.append((url, id))
            case .cancelTransfer(let id, let key, _):
                stopping.insert(id)
                if state.fetching.downloads[key] != nil { stops += 1 }
            case .publish(let id, let key): publications.append((key, id))
            default: break
            }
        }
    }

    private func check() throws {
        state.fetching.checkInvariants()
        guard stopping.isEmpty else { return }
        let flights = state.fetching.downloads.all.map(\.value)
        let prefetches = flights.filter { $0.phase.isRunning && urgency($0) == .background }
        for image in flights where image.phase == .queued && urgency(image) > .background {
            guard state.fetching.scheduler.slots.pauses.limit(of: image.origin) == nil,
                users(of: image).contains(where: {
                    state.fetching.scheduler.slots.permitAnother(for: $0)
                })
            else { continue }
            let isFull = !state.fetching.scheduler.slots.hasSlot(at: image.origin)
            #expect(
                isFull || !state.fetching.scheduler.slots.hasSlot,
                "\(image.url) waits beside a free slot")
            #expect(
                !prefetches.contains { !isFull || $0.origin == image.origin },
                "\(image.url) waits for a prefetch")
        }
    }

    /// The users of the clients that wait for an image that is no prefetch.
    private func users(of image: Flight) -> [UserID] {
        let callers = image.waiters.compactMap { state.fetching.waiters[$0] }
        let detached = image.detached.flatMap { $0.priority > .background ? $0.client : nil }
        return
            (callers.filter { $0.priority > .background }.map(\.client)
            + [detached].compactMap(\.self)).map(\.user)
    }

    private func urgency(_ flight: Flight) -> Priority { state.fetching.urgency(of: flight) }
}
