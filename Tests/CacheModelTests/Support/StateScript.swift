import CacheKey
import CacheSamples
import CacheValues
import TestSupport

@testable import CacheDisk
@testable import CacheFetching
@testable import CacheModel

/// A cache state that receives events about images `a`, `b`, … and returns its decisions in words.
///
/// The invariants are checked after every event.
final class StateScript {
    var state: CacheState
    private var names: [CacheKey: String] = [:]
    private var callers: [WaiterID: String] = [:]
    /// Victims whose files are not removed yet.
    var doomed: [String: Victim] = [:]
    /// Downloads that were cancelled and have not stopped yet.
    private var stopping: [String: FlightID] = [:]
    /// The refusal of the last download that got no space.
    var refusal: Failure?

    /// Failures are neither retried nor remembered, unless the policy differs.
    ///
    /// - Parameter bytes: the byte limit, if there is one.
    init(
        transferLimit: Int = 9, originLimit: Int = .max, bytes: Int64 = .max, entries: Int = .max,
        retry: RetryPolicy = .once, publishingLimit: Int = .max, detachedLimit: Int = 200_000,
        store: StorePolicy? = nil
    ) {
        var budget = Budget.unlimited
        budget.maximumBytes = bytes
        budget.maximumEntries = entries
        state = CacheState(
            FetchingState(
                transferLimit: transferLimit, originLimit: originLimit, budget: budget,
                retry: retry,
                publishingLimit: publishingLimit, detachedLimit: detachedLimit, store: store))
        state.disk.validity = .complete
    }

    // MARK: Events

    /// Runs an event. Returns the decisions, work first.
    func event(_ body: (inout CacheState, inout Effects) -> Void) -> [String] {
        let wasQuiet = state.fetching.changes.keys.isEmpty
        var effects = Effects()
        body(&state, &effects)
        state.fetching.checkInvariants()
        let words = effects.work.compactMap(words) + effects.notices.map(words)
        precondition(
            !wasQuiet || state.fetching.changes.keys.isEmpty || words.contains("announce"),
            "nobody is woken for a change")
        return words
    }

    /// A caller arrives under the name of its outcome, and requests images.
    @discardableResult
    func caller(
        _ caller: String, wants images: String..., priority: Priority = .normal,
        isRefresh: Bool = false, client: UInt64 = 0, user: UserID = .daemon,
        isGuest: Bool = false, attempts: Int? = nil, deadline: ContinuousClock.Instant? = nil,
        saying expected: (([String]) -> Void)? = nil
    ) -> WaiterID {
        let options = FetchOptions(
            priority: priority, isRefresh: isRefresh,
            client: ClientID(rawValue: client, user: user, isGuest: isGuest),
            attempts: attempts, deadline: deadline)
        let id = state.fetching.waiterBegan(options)
        callers[id] = caller
        var said: [String] = []
        for image in images { said += want(image, by: id, options) }
        said += event { $0.fetching.waiterNamed(id, &$1) }
        expected?(said)
        return id
    }

    func want(
        _ image: String, by waiter: WaiterID?, _ options: FetchOptions = FetchOptions(),
        stale: Staleness? = nil, now: UInt32 = 1_790_000_100
    ) -> [String] {
        event { state, effects in
            state.fetching.requested(
                key(image), Sample.url(image), by: waiter, options, stale: stale,
                now: FileTime(UnixTime(rawValue: now)), &effects)
        }
    }

    /// A caller that does not wait is about to request `images` images.
    func announces(_ images: Int, for client: ClientID = .daemon) -> Bool {
        state.fetching.detachedAnnounced(images, for: client)
    }

    func leaves(_ waiter: WaiterID) -> [String] {
        event { $0.fetching.waiterLeft(waiter, &$1) }
    }

    func progresses(_ image: String, received: Int64, total: Int64?) -> [String] {
        event { [id = flight(image)] state, effects in
            state.fetching.transferProgressed(
                key(image), id, received: received, total: total, &effects)
        }
    }

    /// The download of an image ends. A late event names the flight it belonged to.
    func finishes(
        _ image: String, _ flight: FlightID? = nil, failing failure: Failure? = nil,
        size: Int64 = 1000
    ) -> [String] {
        let id = flight ?? self.flight(image)
        return event { state, effects in
            if let failure {
                state.transferFailed(key(image), id, failure, &effects)
            } else {
                state.fetching.imageStaged(key(image), id, size: size, &effects)
            }
        }
    }

    /// A cancelled download has stopped.
    func stops(_ image: String) -> [String] {
        guard let id = stopping.removeValue(forKey: image) else {
            preconditionFailure("\(image) was not told to stop")
        }
        return finishes(image, id, failing: .removed)
    }

    /// A cancelled download has only its name lookup left. Returns its identifier.
    func abandons(_ image: String, saying expected: (([String]) -> Void)? = nil) -> FlightID {
        guard let id = stopping.removeValue(forKey: image) else {
            preconditionFailure("\(image) was not told to stop")
        }
        let said = event { $0.fetching.transferAbandoned(id, &$1) }
        expected?(said)
        return id
    }

    func lookupEnds(_ id: FlightID) -> [String] { event { $0.fetching.lookupEnded(id, &$1) } }

    /// The origin confirms the entry that the download of an image revalidates.
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

    func removes(_ image: String, sparesPinned: Bool = false) -> [String] {
        event { state, effects in
            _ = state.removeAsked(key(image), sparesPinned: sparesPinned, &effects)
        }
    }

    func changes(_ change: DirectoryChange) -> [String] {
        event { $0.directoryChanged(change, now: FileTime(Sample.now), &$1) }
    }

    /// Downloads and publishes the image, and ignores the decisions.
    func has(_ image: String, _ facts: EntryFacts = Sample.facts()) {
        _ = want(image, by: nil)
        _ = finishes(image)
        _ = published(image, facts)
        _ = looksAt(image, .entry(facts))
    }

    /// Adds entries of `allocated` bytes each on the disk, the least recently used first.
    func has(_ images: String..., allocated: Int64) {
        for image in images { has(image, Sample.facts(allocated: allocated)) }
    }

    /// Some time has passed since the script began.
    func passes(_ time: Duration) -> [String] {
        event {
            $0.fetching.timePassed(now: Sample.moment.instant + time, &$1)
            $0.fetching.paceMeasured(now: Sample.moment.instant + time, &$1)
        }
    }

    func looksAt(_ image: String, _ probe: EntryProbe) -> Lookup? {
        let start = state.disk.beginProbe()
        defer { state.fetching.checkInvariants() }
        var effects = Effects()
        return state.probed(
            key(image), probe, since: start,
            now: FileTime(UnixTime(rawValue: 1_790_000_000)), &effects)
    }

    /// A scan takes in a batch of names.
    func scans(_ batch: [ScannedName], since start: ChangeEpochs.Start) {
        _ = event { $0.scanned(batch, since: start, &$1) }
    }

    // MARK: Queries

    /// Whether a download was cancelled and has not stopped yet.
    func isStopping(_ image: String) -> Bool { stopping[image] != nil }

    func name(of key: CacheKey) -> String { name(key) }

    func key(_ image: String) -> CacheKey {
        let key = Sample.key(image)
        names[key] = image
        return key
    }

    /// The running download.
    func flight(_ image: String) -> FlightID {
        guard let flight = state.fetching.downloads[key(image)] else {
            preconditionFailure("\(image) is not on its way")
        }
        return flight.id
    }

    func lookup(_ image: String) -> Lookup? { state.fetching.lookup(key(image)) }

    /// Whether a publication can wait for further images.
    var isMoreToCome: Bool { state.fetching.isDownloading }

    func phase(_ image: String) -> Phase? { state.fetching.downloads[key(image)]?.phase }

    /// Whether there is an entry.
    func holds(_ image: String) -> Bool { state.disk.contains(key(image)) }

    /// All entries, the most recently used first.
    var order: [CacheKey] { state.disk.index.inOrderOfUse().map(\.key) }

    func scanFinishes(isWatched: Bool = true) -> Bool { state.scanFinished(isWatched: isWatched) }

    func takesChanges() -> Set<CacheKey> { state.fetching.changes.take() }

    func words(_ work: Work) -> String? {
        switch work {
        case .startTransfer(_, let key, let url, _):
            url == Sample.url(name(key)) ? "start \(name(key))" : "start \(url)"
        case .cancelTransfer(let id, let key, let discardsPartial):
            "cancel \(stop(id, key))" + (discardsPartial ? " and discard" : "")
        case .discardPartial(let key): "discard \(name(key))"
        case .keepConfirmation(_, let key): "keep the confirmation of \(name(key))"
        case .complete(let key, _, _): "complete \(name(key))"
        case .publish(_, let key): "publish \(name(key))"
        case .confirm(_, let key): "confirm \(name(key))"
        case .adopt(_, let key, _): "adopt \(name(key))"
        case .findOriginal(_, let key, let image):
            "find the original of \(name(key))" + (image.isRefresh ? " again" : "")
        case .derive(_, let key, _, let source): "derive \(name(key)) from \(name(source))"
        case .planRetry: "plan"
        case .planMeasurement: nil
        case .askStore(_, let key, _, _, let question):
            question.claims
                ? "claim \(name(key))"
                : "ask the store \(question.isAboutEntry ? "about" : "for") \(name(key))"
        case .cancelLookup(_, let key, _): "stop asking for \(name(key))"
        case .wakeStoreWriter: "write"
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
        case .endsArrived: "announce the end"
        case .scanNeeded: "scan"
        case .store: "store"
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
    /// Runs one event. Returns its answer, and the work it decided.
    mutating func run<Answer>(
        _ event: (inout CacheState, inout Effects) -> Answer
    ) -> (answer: Answer, work: [Work]) {
        var effects = Effects()
        let answer = event(&self, &effects)
        fetching.checkInvariants()
        return (answer, effects.work)
    }

    /// A transfer fails, for tests that ignore the details.
    mutating func transferFailed(
        _ key: CacheKey, _ id: FlightID, _ failure: Failure, _ effects: inout Effects
    ) {
        var random = SeededGenerator(seed: 1)
        transferFailed(
            key, id, FailedTransfer(failure: failure), now: Sample.moment, using: &random, &effects)
    }
}
