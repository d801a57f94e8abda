import CacheKey
import CacheSamples
import CacheValues
import TestSupport

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// Random events for a state and its model. The script plays the rest of the cache:
/// transfers that end at some time, a worker that publishes and unlinks in order, and a directory.
struct RandomScript: ~Copyable {
    /// The first violation.
    private(set) var complaint: String?

    private var random: SeededGenerator
    private var state: CacheState
    private var model: StateModel
    private let keys: [CacheKey]
    private let images: [CacheKey: Int]
    private var callers: [WaiterID: Int] = [:]
    private var nextCaller = 0
    /// Downloads that were started and have not ended, including cancelled ones.
    private var transfers: [(image: Int, id: UInt64)] = []
    /// The worker's remaining work.
    private var jobs: [Job] = []
    private var files: Set<Int> = []
    private var dirtyNames: Set<Int> = []

    private enum Job {
        case publish(Int, UInt64)
        case unlink(Int)
    }

    init(seed: UInt64, images count: Int = 24, limit: Int) {
        random = SeededGenerator(seed: seed)
        state = CacheState(FetchingState(transferLimit: limit, retry: .once))
        state.disk.validity = .complete
        model = StateModel(limit: limit)
        keys = (0..<count).map { Sample.key("\($0)") }
        images = Dictionary(uniqueKeysWithValues: keys.enumerated().map { ($1, $0) })
    }

    /// Performs events until the count is reached or a check fails, then drains.
    mutating func run(events: Int) {
        var number = 0
        while number < events, complaint == nil {
            number += 1
            event()
            check(number)
        }
        compare("drain", { $0.fetching.drainBegan(&$1) }, model.drained())
        while complaint == nil, !(transfers.isEmpty && jobs.isEmpty) {
            if transfers.isEmpty { work() } else { finish() }
            check(number)
        }
        guard complaint == nil else { return }
        if !state.fetching.downloads.isEmpty { complaint = "downloads are left after the end" }
        let waiting = state.fetching.waiters.all.lazy.map(\.value).count { $0.isComplete }
        if waiting > 0 { complaint = "\(waiting) callers were never notified" }
    }

    private mutating func event() {
        let image = Int.random(in: keys.indices, using: &random)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: call()
        case 30..<38:
            guard state.fetching.detachedAnnounced(1) else {
                return complaint = "can't detach a request"
            }
            want(image, by: nil, options())
            compare("detached", { $0.fetching.detachedNamed(1, &$1) }, model.named(nil))
        case 38..<50: leave()
        case 50..<65: finish()
        case 65..<80: work()
        case 80..<86: remove(image)
        case 86..<92: stranger(image)
        default: progress()
        }
    }

    // MARK: Callers

    private mutating func call() {
        let options = options()
        let id = state.fetching.waiterBegan(options)
        callers[id] = nextCaller
        model.callers[nextCaller] = .init(
            client: options.client.rawValue, priority: options.priority)
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            want(Int.random(in: keys.indices, using: &random), by: id, options)
        }
        compare("named", { $0.fetching.waiterNamed(id, &$1) }, model.named(nextCaller))
        nextCaller += 1
    }

    private mutating func options() -> FetchOptions {
        FetchOptions(
            priority: Priority.allCases.randomElement(using: &random) ?? .normal,
            isRefresh: random.oneIn(5),
            client: ClientID(rawValue: UInt64.random(in: 0..<3, using: &random)))
    }

    private mutating func want(_ image: Int, by caller: WaiterID?, _ options: FetchOptions) {
        look(image)
        let key = keys[image]
        var effects = Effects()
        state.fetching.requested(
            key, Sample.url("\(image)"), by: caller, options, now: FileTime(nanoseconds: 7),
            &effects)
        // The state chooses the identity; the model predicts the rest.
        let id = state.fetching.downloads[key]?.id.rawValue ?? 0
        let expected = model.wanted(
            image, by: caller.flatMap { callers[$0] }, options, id: id)
        compare("want \(image)", effects, expected)
    }

    private mutating func leave() {
        guard let (id, number) = callers.randomElement(using: &random) else { return }
        compare("leave \(number)", { $0.fetching.waiterLeft(id, &$1) }, model.left(number))
        callers[id] = nil
    }

    // MARK: The rest of the cache

    private mutating func finish() {
        guard !transfers.isEmpty else { return }
        let index = Int.random(in: transfers.indices, using: &random)
        let (image, id) = transfers.remove(at: index)
        let failure: Failure? = random.oneIn(3) ? .http(404) : nil
        let flight = FlightID(rawValue: id)
        let key = keys[image]
        compare(
            "finish \(id)",
            { state, effects in
                if let failure {
                    state.transferFailed(key, flight, failure, &effects)
                } else {
                    state.fetching.imageStaged(key, flight, size: 1000, &effects)
                }
            }, model.finished(image, id, failure?.kind))
    }

    private mutating func progress() {
        guard let (image, id) = transfers.randomElement(using: &random) else { return }
        let received: Int64 = random.oneIn(4) ? 990_000 : 100
        var effects = Effects()
        state.fetching.transferProgressed(
            keys[image], FlightID(rawValue: id), received: received, total: 1_000_000, &effects)
        if model.flights[image]?.id == id {
            model.flights[image]?.phase = .receiving
            model.flights[image]?.received = received
        }
        compare("progress \(id)", effects, [])
    }

    private mutating func work() {
        guard !jobs.isEmpty else { return }
        switch jobs.removeFirst() {
        case .unlink(let image):
            files.remove(image)
            change(.vanished(keys[image]), image)
            let victim = Victim(name: .entry(keys[image]), bytes: 0)
            compare("unlinked \(image)", { $0.unlinked([victim], &$1) }, [])
        case .publish(let image, let id):
            let isLost = random.oneIn(6)
            if !isLost {
                files.insert(image)
                change(.appeared(keys[image]), image)
                // Another program changes the file before the publication is reported.
                if random.oneIn(8) {
                    files.remove(image)
                    change(.vanished(keys[image]), image)
                }
            }
            let failure: Failure? = isLost ? Failure(.storage, "no room") : nil
            let publication = Publication(
                flight: FlightID(rawValue: id), key: keys[image],
                result: failure.map { .failure($0) } ?? .success(Sample.facts()))
            let isKept = model.flights[image]?.isRemovalPending == false
            compare(
                "publish \(id)", { $0.published(publication, &$1) },
                model.published(image, failure?.kind))
            if isKept { dirtyNames.insert(image) }
        }
    }

    private mutating func stranger(_ image: Int) {
        if files.contains(image) {
            files.remove(image)
            change(.vanished(keys[image]), image)
        } else {
            files.insert(image)
            change(.appeared(keys[image]), image)
        }
    }

    private mutating func change(_ change: DirectoryChange, _ image: Int) {
        compare("\(change)", { $0.directoryChanged(change, now: FileTime(Sample.now), &$1) }, [])
        if case .vanished = change {
            model.cached.remove(image)
            dirtyNames.remove(image)
        } else {
            dirtyNames.insert(image)
        }
    }

    /// A lookup, which probes the name if it has to.
    private mutating func look(_ image: Int) {
        guard state.fetching.lookup(keys[image]) == nil else { return }
        let isDoomed = state.disk.space.unlinking.contains(keys[image])
        let isThere = files.contains(image)
        let start = state.disk.beginProbe()
        var effects = Effects()
        _ = state.probed(
            keys[image], isThere ? .entry(Sample.facts()) : .absent, since: start,
            now: FileTime(Sample.now),
            &effects)
        guard !isDoomed else { return }
        dirtyNames.remove(image)
        if isThere { model.cached.insert(image) } else { model.cached.remove(image) }
    }

    private mutating func remove(_ image: Int) {
        look(image)
        let key = keys[image]
        compare(
            "remove \(image)", { _ = $0.removeAsked(key, sparesPinned: false, &$1) },
            model.removed(image))
    }

    // MARK: The comparison

    private mutating func compare(
        _ event: String, _ body: (inout CacheState, inout Effects) -> Void, _ expected: [String]
    ) {
        var effects = Effects()
        body(&state, &effects)
        compare(event, effects, expected)
    }

    private mutating func compare(_ event: String, _ effects: Effects, _ expected: [String]) {
        let said = effects.work.compactMap { words($0) } + effects.notices.map { words($0) }
        for (image, flight) in model.flights where flight.id == 0 {
            model.flights[image]?.id = state.fetching.downloads[keys[image]]?.id.rawValue ?? 0
        }
        guard complaint == nil, said.sorted() != expected.sorted() else { return }
        complaint = "\(event): decided \(said.sorted()), expected \(expected.sorted())"
    }

    private mutating func words(_ effect: Work) -> String? {
        switch effect {
        case .startTransfer(let id, let key, _, _):
            if transfers.contains(where: { $0.id == id.rawValue }) { return "started twice" }
            transfers.append((images[key] ?? -1, id.rawValue))
            return "start \(id.rawValue)"
        case .cancelTransfer(let id, _, let discards):
            return "\(discards ? "discard and cancel" : "cancel") \(id.rawValue)"
        case .discardPartial(let key): return "discard \(images[key] ?? -1)"
        case .keepConfirmation(_, let key): return "keep \(images[key] ?? -1)"
        case .complete(let key, _, _): return "complete \(images[key] ?? -1)"
        case .publish(let id, let key):
            jobs.append(.publish(images[key] ?? -1, id.rawValue))
            return "publish \(id.rawValue)"
        case .confirm(let id, _): return "confirm \(id.rawValue)"
        case .adopt(let id, _, _): return "adopt \(id.rawValue)"
        case .findOriginal, .derive: return "derive an image that nobody wants"
        case .planRetry: return "plan"
        case .planMeasurement: return nil
        case .askStore, .cancelLookup, .wakeStoreWriter: return "use a store that is not there"
        case .unlink(let victim):
            guard case .entry(let key) = victim.name else { return "unlink a partial" }
            jobs.append(.unlink(images[key] ?? -1))
            return "unlink \(images[key] ?? -1)"
        case .evict: return "evict"
        }
    }

    private mutating func words(_ notice: Notice) -> String {
        switch notice {
        case .finish(let outcome):
            let failures = outcome.failures.map { "\(images[$0.key] ?? -1) \($0.value.kind)" }
            let caller = callers.removeValue(forKey: outcome.waiter) ?? -1
            return "tell \(caller): \(failures.sorted().joined(separator: ", "))"
        case .changesArrived, .endsArrived: return "announce"
        case .scanNeeded: return "scan"
        case .store: return "speak of a store that is not there"
        }
    }

    /// The state must keep its invariants and agree with the model about each image.
    private mutating func check(_ number: Int) {
        state.fetching.checkInvariants()
        for (image, key) in keys.enumerated() where complaint == nil {
            if state.disk.index.contains(key) != model.cached.contains(image) {
                complaint = "event \(number): \(image) is cached in only one of state and model"
            }
            let flight = state.fetching.downloads[key]
            if flight?.phase != model.flights[image]?.phase {
                complaint = "event \(number): the phases of \(image) differ"
            }
            let mustLook = dirtyNames.contains(image) && flight?.phase != .publishing
            if (state.fetching.lookup(key) == nil) != mustLook {
                complaint = "event \(number): \(image) is \(mustLook ? "" : "not ")to be probed"
            }
        }
        if state.fetching.scheduler.running != model.running {
            complaint = "event \(number): transfers differ"
        }
    }
}
