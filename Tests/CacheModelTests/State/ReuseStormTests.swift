import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Random requests for stale images whose origin fails, confirms and replaces at random. The state
/// keeps its invariants, notifies every caller once, and has nothing left at the end.
@Suite("State: reuse at random", .timeLimit(.minutes(5)))
struct ReuseStormTests {
    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func notifiesEveryCallerOnceAndLeavesNothingBehind(seed: UInt64) {
        var storm = Storm(seed: seed)
        for _ in 0..<3000 { storm.event() }
        storm.end()
        #expect(storm.left == Storm.Left())
    }
}

/// A state, and the rest of the cache played at random.
private struct Storm: ~Copyable {
    /// Everything that must be gone at the end.
    struct Left: Equatable {
        var flights = 0
        var callers = 0
        var publishing = 0
        var running = 0
        var toldTwice = 0
    }

    private var random: SeededGenerator
    private var state = CacheState(
        FetchingState(transferLimit: 4, originLimit: 4, retry: RetryPolicy()))
    private let names = (0..<12).map { "\($0)" }
    private var now = Sample.moment
    private var callers: Set<WaiterID> = []
    private var toldTwice = 0
    private var transfers: [(id: FlightID, name: String)] = []
    private var jobs: [Work] = []

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        state.disk.validity = .complete
    }

    var left: Left {
        Left(
            flights: state.fetching.downloads.all.count, callers: callers.count,
            publishing: state.fetching.downloads.publishing,
            running: state.fetching.scheduler.running, toldTwice: toldTwice)
    }

    mutating func event() {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: call()
        case 30..<38: leave()
        case 38..<65: finish()
        case 65..<85: work()
        case 85..<88: remove()
        case 88..<90: vanish()
        default: pass()
        }
        state.fetching.checkInvariants()
    }

    mutating func end() {
        take { $0.fetching.drainBegan(&$1) }
        while !(transfers.isEmpty && jobs.isEmpty) {
            finish()
            work()
            state.fetching.checkInvariants()
        }
    }

    private mutating func anyName() -> String { names.randomElement(using: &random) ?? "0" }

    private mutating func call() {
        let id = state.fetching.waiterBegan()
        callers.insert(id)
        let options = FetchOptions(isRefresh: random.oneIn(6))
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let name = anyName()
            let reuse: [Reuse] = [.mustRevalidate, .staleWhileRevalidating]
            let stale = Staleness(
                reuse: reuse.randomElement(using: &random) ?? .fresh,
                allowsStaleIfError: random.oneIn(2))
            let isDetached = random.oneIn(5)
            take { [now] in
                $0.fetching.requested(
                    Sample.key(name), Sample.url(name), by: isDetached ? nil : id, options,
                    stale: stale, now: FileTime(now.time), &$1)
            }
        }
        take { $0.fetching.waiterNamed(id, &$1) }
    }

    private mutating func remove() {
        let key = Sample.key(anyName())
        take { _ = $0.removeAsked(key, sparesPinned: false, &$1) }
    }

    private mutating func vanish() {
        let key = Sample.key(anyName())
        take { $0.directoryChanged(.vanished(key), now: FileTime(Sample.now), &$1) }
    }

    private mutating func leave() {
        guard let id = callers.sorted().randomElement(using: &random) else { return }
        callers.remove(id)
        take { $0.fetching.waiterLeft(id, &$1) }
    }

    private mutating func finish() {
        guard let index = transfers.indices.randomElement(using: &random) else { return }
        let (id, name) = transfers.remove(at: index)
        let key = Sample.key(name)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<3: take { $0.fetching.imageStaged(key, id, size: 1000, &$1) }
        case 3..<5: take { $0.entryConfirmed(key, id, &$1) }
        default:
            let statuses = [503, 503, 503, 404]
            let failed = FailedTransfer(
                failure: .http(statuses.randomElement(using: &random) ?? 503),
                serverDelay: random.oneIn(2) ? Int64.random(in: 0..<30, using: &random) : nil,
                allowsStaleIfError: random.oneIn(2))
            var random = SeededGenerator(seed: self.random.next())
            take { [now] in
                $0.transferFailed(key, id, failed, now: now, using: &random, &$1)
            }
        }
    }

    private mutating func work() {
        guard !jobs.isEmpty else { return }
        switch jobs.removeFirst() {
        case .publish(let id, let key):
            let result: Result<EntryFacts, Failure> =
                random.oneIn(6) ? .failure(Failure(.storage, "")) : .success(facts())
            take { $0.published(Publication(flight: id, key: key, result: result), &$1) }
        case .confirm(let id, let key):
            let ends: [RevalidationEnd] = [.stored(facts()), .stored(facts()), .unstored, .gone]
            let end = ends.randomElement(using: &random) ?? .gone
            take {
                let start = $0.disk.beginProbe()
                $0.confirmed(key, id, end, since: start, &$1)
            }
        case .unlink(let victim): take { $0.unlinked([victim], &$1) }
        default: break
        }
    }

    /// Facts that are soon stale, and sometimes must not be stored.
    private mutating func facts() -> EntryFacts {
        var facts = Sample.facts()
        facts.freshUntil = now.time + Int64.random(in: 0...3, using: &random)
        facts.removeAt = random.oneIn(4) ? now.time + 5 : nil
        return facts
    }

    private mutating func pass() {
        now = now + .seconds(1)
        take { [now] state, effects in
            state.fetching.pausesEnded(now: now.instant, &effects)
            _ = state.removeNotStorable(now: now.time, time: 60, limit: .max, &effects)
        }
    }

    private mutating func take(_ event: (inout CacheState, inout Effects) -> Void) {
        var effects = Effects()
        event(&state, &effects)
        for work in effects.work {
            switch work {
            case .startTransfer(let id, _, let url, _):
                transfers.append((id, String(url.string.split(separator: "/").last ?? "")))
            case .publish, .confirm, .unlink: jobs.append(work)
            default: break
            }
        }
        for case .finish(let outcome) in effects.notices
        where callers.remove(outcome.waiter) == nil {
            toldTwice += 1
        }
    }
}
