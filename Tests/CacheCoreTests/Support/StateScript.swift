import CacheKey
import TestSupport

@testable import CacheCore

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
        state.trust = .whole
    }

    // MARK: Events

    func event(_ body: (inout CacheState) -> [Effect]) -> [String] {
        let wasQuiet = state.changes.keys.isEmpty
        let effects = body(&state)
        state.checkInvariants()
        let words = effects.map(words)
        precondition(
            !wasQuiet || state.changes.keys.isEmpty || words.contains("announce"),
            "nobody is woken for what changed")
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
        said += event { $0.waiterNamed(id) }
        expected?(said)
        return id
    }

    func want(
        _ image: String, by waiter: WaiterID?, _ options: FetchOptions = FetchOptions(),
        now: UInt32 = 1_790_000_100
    ) -> [String] {
        event { state in
            state.wanted(
                key(image), Sample.url(image), by: waiter, options,
                now: FileTime(UnixTime(rawValue: now)))
        }
    }

    /// A caller that does not wait asks for so many to be held; see ``CacheState/holdsNamed(_:)``.
    func mayHold(_ wishes: Int) -> Bool { state.holdsAsked(wishes) }

    func leaves(_ waiter: WaiterID) -> [String] {
        event { $0.waiterLeft(waiter) }
    }

    func progresses(_ image: String, received: Int64, total: Int64?) -> [String] {
        event { [id = flight(image)] state in
            state.transferProgressed(key(image), id, received: received, total: total)
        }
    }

    /// The download of an image ends; a late one names the flight it belonged to.
    func finishes(
        _ image: String, _ flight: FlightID? = nil, failing failure: Failure? = nil,
        size: Int64 = 1000
    ) -> [String] {
        let id = flight ?? self.flight(image)
        return event { state in
            state.transferFinished(
                key(image), id,
                failure.map { .failure($0) } ?? .success(Sample.staged(image, id, size: size)))
        }
    }

    /// A download that was told to stop has.
    func stops(_ image: String) -> [String] {
        guard let id = stopping.removeValue(forKey: image) else {
            preconditionFailure("\(image) was not told to stop")
        }
        return finishes(image, id, failing: .removed)
    }

    /// The download of an image ends in one of the other ways.
    func ends(_ image: String, _ end: TransferEnd, now: Moment = Sample.moment) -> [String] {
        event { [id = flight(image)] state in
            var random = SeededGenerator(seed: 1)
            return state.transferFinished(key(image), id, end, now: now, using: &random)
        }
    }

    func published(
        _ image: String, _ facts: EntryFacts = Sample.facts(), failing failure: Failure? = nil
    ) -> [String] {
        let id = flight(image)
        return event { state in
            state.published(
                Publication(
                    flight: id, key: key(image),
                    result: failure.map { .failure($0) } ?? .success(facts)))
        }
    }

    func removes(
        _ image: String, sparesPinned: Bool = false, isDisowned: Bool = false
    ) -> [String] {
        event {
            $0.removeAsked(key(image), sparesPinned: sparesPinned, isDisowned: isDisowned).1
        }
    }

    func changes(_ change: DirectoryWatch.Change) -> [String] {
        event { $0.directoryChanged(change, now: .now) }
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
        let start = state.epochs.begin()
        defer {
            state.epochs.end()
            state.checkInvariants()
        }
        return state.probed(
            key(image), probe, since: start,
            now: FileTime(UnixTime(rawValue: 1_790_000_000))
        ).answer
    }

    // MARK: Questions

    func key(_ image: String) -> CacheKey {
        let key = Sample.key(image)
        names[key] = image
        return key
    }

    /// The download under way.
    func flight(_ image: String) -> FlightID {
        guard let flight = state.flights[key(image)] else {
            preconditionFailure("\(image) is not on its way")
        }
        return flight.id
    }

    func lookup(_ image: String) -> Lookup? { state.lookup(key(image)) }

    /// Whether what is published may wait for what is to come.
    var isMoreToCome: Bool { state.isDownloading }

    func phase(_ image: String) -> Phase? { state.flights[key(image)]?.phase }

    /// Whether there is an entry.
    func holds(_ image: String) -> Bool { state.index.contains(key(image)) }

    /// All entries, the most recently used first.
    var order: [CacheKey] { state.index.inOrderOfUse().map(\.key) }

    func scanFinishes(isWatched: Bool = true) -> Bool { state.scanFinished(isWatched: isWatched) }

    func takesChanges() -> Set<CacheKey> { state.changes.take() }

    func words(_ effect: Effect) -> String {
        switch effect {
        case .startTransfer(_, let key, let url, _):
            url == Sample.url(name(key)) ? "start \(name(key))" : "start \(url)"
        case .cancelTransfer(let id, let key, let discardsPartial):
            "cancel \(stop(id, key))" + (discardsPartial ? " and discard" : "")
        case .discardPartial(let key): "discard \(name(key))"
        case .publish(let image): "publish \(name(image.key))"
        case .confirm(let revalidation): "confirm \(name(revalidation.key))"
        case .planRetry: "plan"
        case .unlink(let victim): "unlink \(doom(victim))"
        case .evict(let goal):
            "evict to \(goal.bytes)"
                + (goal.entries == .max ? "" : " and \(goal.entries) entries")
        case .resumeTransfer(let id): "resume \(name(id))"
        case .finish(let outcome): words(outcome)
        case .announceChanges: "announce"
        case .scan: "scan"
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

    private func name(_ id: FlightID) -> String {
        state.flights.first { $0.value.id == id }.map { name($0.key) } ?? "nobody"
    }

    private func name(_ key: CacheKey) -> String { names[key] ?? "\(key)" }
}

extension CacheState {
    /// A download ends where nothing but its success or failure matters.
    mutating func transferFinished(
        _ key: CacheKey, _ id: FlightID, _ result: Result<StagedImage, Failure>
    ) -> [Effect] {
        var random = SeededGenerator(seed: 1)
        let end: TransferEnd =
            switch result {
            case .success(let image): .staged(image)
            case .failure(let failure): .failed(FailedTransfer(failure: failure))
            }
        return transferFinished(key, id, end, now: Sample.moment, using: &random)
    }
}
