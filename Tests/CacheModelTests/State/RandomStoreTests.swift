import CacheKey
import CacheSamples
import CacheValues
import TestSupport
import Testing

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Random events about downloads that ask a store first. The state keeps its invariants, and every caller is answered.
@Suite("State: random events with a store", .timeLimit(.minutes(5)))
struct RandomStoreTests {
    @Test(arguments: 1...(isLongForm ? 100 : 8) as ClosedRange<UInt64>)
    func everyDownloadEndsOnceWhateverTheStoreSays(seed: UInt64) {
        var storm = StoreStorm(seed: seed)
        for _ in 0..<3000 { storm.step() }
        storm.calm()
        let (isEmpty, running) = (
            storm.state.fetching.downloads.isEmpty, storm.state.fetching.scheduler.running
        )
        let (lookups, waiting) = (
            storm.state.fetching.store?.lookups.runningCount, storm.waiting.count
        )
        #expect(isEmpty)
        #expect(running == 0)
        #expect(lookups == 0)
        #expect(waiting == 0)
    }
}

/// A state, and the threads that carry out what it decides, in random order.
private struct StoreStorm: ~Copyable {
    var state: CacheState
    private var random: SeededGenerator
    private let keys = (0..<12).map { "\($0)" }
    /// The work that the threads are doing.
    private var lookups: [FlightID: CacheKey] = [:]
    /// The questions that are late, and still under way.
    private var late: Set<FlightID> = []
    private var transfers: [FlightID: CacheKey] = [:]
    private var publications: [FlightID: (key: CacheKey, isConfirmed: Bool)] = [:]
    private var tasks: [StoreTask] = []
    /// Callers without an outcome.
    private(set) var waiting: Set<WaiterID> = []
    private var now = Sample.moment

    init(seed: UInt64) {
        random = SeededGenerator(seed: seed)
        state = CacheState(
            FetchingState(
                transferLimit: 3, originLimit: 2, retry: RetryPolicy(), publishingLimit: 4,
                store: StorePolicy(renew: 100)))
        state.disk.validity = .complete
    }

    private mutating func event(_ body: (inout CacheState, inout Effects) -> Void) {
        var effects = Effects()
        body(&state, &effects)
        state.fetching.checkInvariants()
        for work in effects.work { take(work) }
        for case .finish(let outcome) in effects.notices { waiting.remove(outcome.waiter) }
    }

    private mutating func take(_ work: Work) {
        switch work {
        case .askStore(let id, let key, _, _, _):
            precondition(lookups.updateValue(key, forKey: id) == nil, "asked twice")
        case .startTransfer(let id, let key, _, _):
            precondition(transfers.updateValue(key, forKey: id) == nil, "started twice")
        case .publish(let id, let key): publications[id] = (key, false)
        case .confirm(let id, let key): publications[id] = (key, true)
        case .cancelLookup, .cancelTransfer, .discardPartial, .adopt, .complete, .keepConfirmation,
            .unlink, .evict,
            .planRetry,
            .planMeasurement, .wakeStoreWriter, .findOriginal, .derive:
            break
        }
    }

    mutating func step() {
        let name = keys.randomElement(using: &random) ?? ""
        now = now + .milliseconds(Int.random(in: 0...200, using: &random))
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: call(name)
        case 25..<32:
            if let waiter = waiting.randomElement(using: &random) {
                waiting.remove(waiter)
                event { $0.fetching.waiterLeft(waiter, &$1) }
            }
        case 32..<52: answer()
        case 52..<68: transfer()
        case 68..<84: publish()
        case 84..<88:
            event { _ = $0.removeAsked(Sample.key(name), sparesPinned: false, &$1) }
        case 88..<94: write()
        default: passTime()
        }
    }

    /// All threads do what they have to do, until nothing is left.
    mutating func calm() {
        for _ in 0..<5000
        where !state.fetching.downloads.isEmpty || !lookups.isEmpty || !transfers.isEmpty {
            answer()
            transfer()
            publish()
            now = now + .seconds(1)
            passTime()
        }
    }

    private mutating func call(_ name: String) {
        let options = FetchOptions(
            priority: Priority.allCases.randomElement(using: &random) ?? .normal,
            isRefresh: Int.random(in: 0..<8, using: &random) == 0)
        guard Bool.random(using: &random) else {
            return event { [now] in
                $0.fetching.requested(
                    Sample.key(name), Sample.url(name), by: nil, options,
                    now: FileTime(now.time), &$1)
            }
        }
        let id = state.fetching.waiterBegan(options)
        waiting.insert(id)
        event { [now] in
            $0.fetching.requested(
                Sample.key(name), Sample.url(name), by: id, options, now: FileTime(now.time), &$1)
        }
        event { $0.fetching.waiterNamed(id, &$1) }
    }

    private mutating func answer() {
        guard let (id, key) = lookups.randomElement(using: &random) else { return }
        lookups[id] = nil
        let refusal = StoreRefusal(code: "AccessDenied", remedy: "")
        let answers: [StoreAnswer] = [
            .missing, .claimed, .awaited, .stale, .bad("bad"), .late, .failed("failed"), .withdrawn,
            .notAsked,
            .overloaded(retryAfter: 1), .refused(refusal),
        ]
        let reuses: [Reuse] = [.fresh, .staleWhileRevalidating, .mustRevalidate]
        let (choice, reuse) = (
            answers.randomElement(using: &random) ?? .late, reuses.randomElement(using: &random)
        )
        let isHit = Bool.random(using: &random)
        let isEntry = state.disk.contains(key)
        let wasLate = late.remove(id) != nil
        let isLate = !wasLate && Int.random(in: 0..<4, using: &random) == 0
        if isLate {
            lookups[id] = key
            late.insert(id)
        }
        var random = random
        event { [now] state, effects in
            if isLate {
                state.fetching.notInStore(
                    key, id, .later, after: nil, now: now, using: &random, &effects)
            } else if wasLate, isHit {
                state.fetching.foundInStore(
                    key, id, size: 10, reuse: reuse ?? .fresh, after: nil, &effects)
            } else if wasLate {
                state.fetching.notInStore(
                    key, id, .withdrawn, after: nil, now: now, using: &random, &effects)
            } else if isHit, isEntry {
                state.fetching.confirmedByStore(key, id, after: .milliseconds(1), &effects)
            } else if isHit {
                state.fetching.foundInStore(
                    key, id, size: 10, reuse: reuse ?? .fresh, after: .milliseconds(1), &effects)
            } else {
                state.fetching.notInStore(
                    key, id, choice, after: .milliseconds(1), now: now, using: &random, &effects)
            }
        }
        self.random = random
    }

    private mutating func transfer() {
        guard let (id, key) = transfers.randomElement(using: &random) else { return }
        transfers[id] = nil
        let choice = Int.random(in: 0..<4, using: &random)
        let isEntry = state.disk.contains(key)
        let status = [404, 503, 410].randomElement(using: &random) ?? 404
        var random = random
        event { [now] state, effects in
            switch choice {
            case 0:
                state.transferFailed(
                    key, id, FailedTransfer(failure: .http(status), allowsStaleIfError: true),
                    now: now, using: &random, &effects)
            case 1 where isEntry:
                state.entryConfirmed(key, id, isShareable: true, lifetime: 200, &effects)
            default:
                state.fetching.imageStaged(key, id, size: 10, isShareable: choice != 3, &effects)
            }
        }
        self.random = random
    }

    private mutating func publish() {
        guard let (id, job) = publications.randomElement(using: &random) else { return }
        publications[id] = nil
        let isGone = Int.random(in: 0..<5, using: &random) == 0
        let key = job.key
        event { state, effects in
            if job.isConfirmed {
                let start = state.disk.beginProbe()
                state.confirmed(
                    key, id, isGone ? .gone : .stored(Sample.facts()), since: start, &effects)
            } else {
                state.published(
                    Publication(
                        flight: id, key: key, isLostByOthers: isGone,
                        result: isGone ? .failure(.removed) : .success(Sample.facts())), &effects)
            }
        }
        // Another program may have touched the name; a probe says what is there.
        if state.disk.dirtyNames.contains(key) { probe(key) }
    }

    private mutating func probe(_ key: CacheKey) {
        let start = state.disk.beginProbe()
        event { [now] state, effects in
            _ = state.probed(
                key, .entry(Sample.facts()), since: start, now: FileTime(now.time), &effects)
        }
    }

    private mutating func write() {
        if let task = state.fetching.takeStoreTask() { tasks.append(task) }
        guard let task = tasks.popLast() else { return }
        let ends: [StoreWriteEnd] = [
            .written(bytes: 1), .deleted, .renewed, .wasThere, .nothingToRenew, .obsolete,
            .failed("failed"), .overloaded(retryAfter: nil),
            .refused(StoreRefusal(code: "AccessDenied", remedy: "")),
        ]
        let end = ends.randomElement(using: &random) ?? .obsolete
        var random = random
        event { [now] state, effects in
            state.fetching.storeTaskEnded(task, end, now: now, using: &random, &effects)
        }
        self.random = random
    }

    private mutating func passTime() {
        event { [now] in $0.fetching.storeTimePassed(now: now.instant, &$1) }
        event { [now] in $0.fetching.pausesEnded(now: now.instant, &$1) }
    }
}
