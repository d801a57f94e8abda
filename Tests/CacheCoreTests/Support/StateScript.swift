import CacheKey
import TestSupport

@testable import CacheCore
@testable import CacheModel

/// A cache state that is told events about images `a`, `b`, … and says in words what it decided.
///
/// The invariants are checked after every event.
final class StateScript {
    var state: CacheState
    private var names: [CacheKey: String] = [:]
    private var callers: [WaiterID: String] = [:]
    /// Decided to go, and not gone yet.
    var doomed: [String: Victim] = [:]
    /// Told to stop, and not stopped yet.
    private var stopping: [String: FlightID] = [:]
    /// What the last refused download was told.
    var refusal: Failure?

    /// What fails, fails at once and is forgotten, unless the policy is another.
    ///
    /// - Parameter bytes: what may be held, where that is limited.
    init(
        transferLimit: Int = 9, hostLimit: Int = .max, bytes: Int64 = .max, entries: Int = .max,
        retry: RetryPolicy = .once, publishingLimit: Int = .max, detachedLimit: Int = 200_000
    ) {
        var budget = Budget.unlimited
        budget.maximumBytes = bytes
        budget.maximumEntries = entries
        state = CacheState(
            transferLimit: transferLimit, hostLimit: hostLimit, budget: budget, retry: retry,
            publishingLimit: publishingLimit, detachedLimit: detachedLimit)
        state.catalog.validity = .complete
    }

    // MARK: Events

    /// Runs an event; what it decided, work first.
    func event(_ body: (inout CacheState, inout Effects) -> Void) -> [String] {
        let wasQuiet = state.changes.keys.isEmpty
        var effects = Effects()
        body(&state, &effects)
        state.checkInvariants()
        let words = effects.work.map(words) + effects.notices.map(words)
        precondition(
            !wasQuiet || state.changes.keys.isEmpty || words.contains("announce"),
            "nobody is woken for a change")
        return words
    }

    /// A caller comes, named for its outcome, and names what it wants.
    @discardableResult
    func caller(
        _ caller: String, wants images: String..., priority: Priority = .normal,
        isRefresh: Bool = false, client: UInt64 = 0, saying expected: (([String]) -> Void)? = nil
    ) -> WaiterID {
        let options = FetchOptions(
            priority: priority, isRefresh: isRefresh, client: ClientID(rawValue: client))
        let id = state.waiterBegan(options)
        callers[id] = caller
        var said: [String] = []
        for image in images { said += want(image, by: id, options) }
        said += event { $0.waiterNamed(id, &$1) }
        expected?(said)
        return id
    }

    func want(
        _ image: String, by waiter: WaiterID?, _ options: FetchOptions = FetchOptions(),
        stale: Staleness? = nil, now: UInt32 = 1_790_000_100
    ) -> [String] {
        event { state, effects in
            state.requested(
                key(image), Sample.url(image), by: waiter, options, stale: stale,
                now: FileTime(UnixTime(rawValue: now)), &effects)
        }
    }

    /// A caller that does not wait is about to name so many images.
    func announces(_ images: Int) -> Bool { state.detachedAnnounced(images) }

    func leaves(_ waiter: WaiterID) -> [String] {
        event { $0.waiterLeft(waiter, &$1) }
    }

    func progresses(_ image: String, received: Int64, total: Int64?) -> [String] {
        event { [id = flight(image)] state, effects in
            state.transferProgressed(key(image), id, received: received, total: total, &effects)
        }
    }

    /// The download of an image ends; a late one names the flight it belonged to.
    func finishes(
        _ image: String, _ flight: FlightID? = nil, failing failure: Failure? = nil,
        size: Int64 = 1000
    ) -> [String] {
        let id = flight ?? self.flight(image)
        return event { state, effects in
            if let failure {
                state.transferFailed(key(image), id, failure, &effects)
            } else {
                state.imageStaged(key(image), id, size: size, &effects)
            }
        }
    }

    /// A download that was told to stop has.
    func stops(_ image: String) -> [String] {
        guard let id = stopping.removeValue(forKey: image) else {
            preconditionFailure("\(image) was not told to stop")
        }
        return finishes(image, id, failing: .removed)
    }

    /// The origin confirms the entry that the download of an image asked about.
    func confirms(_ image: String) -> [String] {
        event { [id = flight(image)] state, effects in
            state.entryConfirmed(key(image), id, &effects)
        }
    }

    /// The download of an image fails.
    func fails(
        _ image: String, _ failed: FailedTransfer, now: Moment = Sample.moment
    ) -> [String] {
        event { [id = flight(image)] state, effects in
            var random = SeededGenerator(seed: 1)
            state.transferFailed(
                key(image), id, failed, now: now, using: &random, &effects)
        }
    }

    func published(
        _ image: String, _ facts: EntryFacts = Sample.facts(), failing failure: Failure? = nil
    ) -> [String] {
        let id = flight(image)
        return event { state, effects in
            state.published(
                Publication(
                    flight: id, key: key(image),
                    result: failure.map { .failure($0) } ?? .success(facts)), &effects)
        }
    }

    func removes(
        _ image: String, sparesPinned: Bool = false, isQuarantined: Bool = false
    ) -> [String] {
        event { state, effects in
            _ = state.removeAsked(
                key(image), sparesPinned: sparesPinned, isQuarantined: isQuarantined, &effects)
        }
    }

    func changes(_ change: DirectoryChange) -> [String] {
        event { $0.directoryChanged(change, now: .now, &$1) }
    }

    /// The image is downloaded and published, whatever that says.
    func has(_ image: String, _ facts: EntryFacts = Sample.facts()) {
        _ = want(image, by: nil)
        _ = finishes(image)
        _ = published(image, facts)
        _ = looksAt(image, .entry(facts))
    }

    /// Entries of so many bytes each on the disk, the least recently used first.
    func has(_ images: String..., allocated: Int64) {
        for image in images { has(image, Sample.facts(allocated: allocated)) }
    }

    func looksAt(_ image: String, _ probe: EntryProbe) -> Lookup? {
        let start = state.catalog.beginProbe()
        defer {
            state.catalog.endProbe()
            state.checkInvariants()
        }
        var effects = Effects()
        return state.probed(
            key(image), probe, since: start,
            now: FileTime(UnixTime(rawValue: 1_790_000_000)), &effects)
    }

    /// A scan takes in a batch of names.
    func scans(_ batch: [ScannedName], since start: ChangeEpochs.Start) {
        _ = event { $0.scanned(batch, since: start, &$1) }
    }

    // MARK: Questions

    func key(_ image: String) -> CacheKey {
        let key = Sample.key(image)
        names[key] = image
        return key
    }

    /// The download under way.
    func flight(_ image: String) -> FlightID {
        guard let flight = state.downloads[key(image)] else {
            preconditionFailure("\(image) is not on its way")
        }
        return flight.id
    }

    func lookup(_ image: String) -> Lookup? { state.lookup(key(image)) }

    /// Whether what is published may wait for what is to come.
    var isMoreToCome: Bool { state.isDownloading }

    func phase(_ image: String) -> Phase? { state.downloads[key(image)]?.phase }

    /// Whether there is an entry.
    func holds(_ image: String) -> Bool { state.catalog.contains(key(image)) }

    /// All entries, the most recently used first.
    var order: [CacheKey] { state.catalog.index.inOrderOfUse().map(\.key) }

    func scanFinishes(isWatched: Bool = true) -> Bool { state.scanFinished(isWatched: isWatched) }

    func takesChanges() -> Set<CacheKey> { state.changes.take() }

    func words(_ work: Work) -> String {
        switch work {
        case .startTransfer(_, let key, let url, _):
            url == Sample.url(name(key)) ? "start \(name(key))" : "start \(url)"
        case .cancelTransfer(let id, let key, let discardsPartial):
            "cancel \(stop(id, key))" + (discardsPartial ? " and discard" : "")
        case .discardPartial(let key): "discard \(name(key))"
        case .publish(_, let key): "publish \(name(key))"
        case .confirm(_, let key): "confirm \(name(key))"
        case .planRetry: "plan"
        case .unlink(let victim): "unlink \(doom(victim))"
        case .evict(let goal):
            "evict to \(goal.bytes)"
                + (goal.entries == .max ? "" : " and \(goal.entries) entries")
        }
    }

    func words(_ notice: Notice) -> String {
        switch notice {
        case .finish(let outcome): words(outcome)
        case .changesArrived: "announce"
        case .scanNeeded: "scan"
        }
    }

    private func stop(_ id: FlightID, _ key: CacheKey) -> String {
        stopping[name(key)] = id
        return name(key)
    }

    private func words(_ outcome: Outcome) -> String {
        let failures = outcome.failures.map { "\(name($0.key)) \($0.value.kind)" }.sorted()
        let caller = callers[outcome.waiter] ?? "nobody"
        return (["tell \(caller)"] + failures).joined(separator: ": ")
    }

    func name(_ victim: Victim) -> String {
        switch victim.name {
        case .entry(let key): name(key)
        case .partial(let key): "partial \(name(key))"
        }
    }

    private func name(_ key: CacheKey) -> String { names[key] ?? "\(key)" }
}

extension CacheState {
    /// Runs one event; its answer, and the work it decided.
    mutating func run<Answer>(
        _ event: (inout CacheState, inout Effects) -> Answer
    ) -> (answer: Answer, work: [Work]) {
        var effects = Effects()
        let answer = event(&self, &effects)
        checkInvariants()
        return (answer, effects.work)
    }

    /// A transfer fails and nothing but that matters.
    mutating func transferFailed(
        _ key: CacheKey, _ id: FlightID, _ failure: Failure, _ effects: inout Effects
    ) {
        var random = SeededGenerator(seed: 1)
        transferFailed(
            key, id, FailedTransfer(failure: failure), now: Sample.moment, using: &random, &effects)
    }
}
