import CacheDisk
package import CacheKey
package import CacheValues

/// Questions to the store that several machines share.
///
/// A new download asks the store before it queues for its origin. Questions hold no slot of the scheduler: they have
/// connections of their own.
extension CacheState {
    /// Whether the store may have the image of a new download, so that it is asked first.
    func mayBeInStore(_ key: CacheKey, _ flight: Flight) -> Bool {
        store?.answers(for: key) == true && hasCommonName(flight)
    }

    /// Whether the image is known by its URL, or by what the rules of the configuration leave of it, and is as its origin
    /// has it.
    ///
    /// Other names are the choice of a program on this machine, so other machines must not believe them. The images of an
    /// account are for nobody else, and a local origin is another one elsewhere.
    func hasCommonName(_ flight: Flight) -> Bool {
        flight.name == flight.name.withoutFragment
            && store?.naming.name(of: flight.url) == flight.name
            && store?.localOrigins.contains(flight.origin) == false
    }

    /// A download has reached a host that is another one on another network. The images of its origin concern this
    /// machine alone: it neither asks others for them nor tells others of them.
    package mutating func transferIsLocal(_ key: CacheKey, _ id: FlightID) {
        guard let flight = downloads.flight(key, id) else { return }
        store?.localOrigins.insert(flight.origin)
    }

    /// A caller has joined a download. If the download waits for its turn at the store, or for its original, that may
    /// come earlier.
    mutating func urgencyChanged(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key] else { return }
        if flight.awaitsOriginal { return findOriginal(key, flight, &effects) }
        guard store != nil else { return }
        if flight.waitsForStore {
            waitForStore(key, flight)
        } else if flight.isSpreading, urgency(of: flight) > .background {
            downloads.update(key) { $0.endsSpreading() }
            enqueue(key)
        }
    }

    /// A download that has not begun asks the store first if that may have the image, and queues for its origin if not.
    mutating func askStoreOrQueue(_ key: CacheKey) {
        guard let flight = downloads[key], mayBeInStore(key, flight) else { return enqueue(key) }
        downloads.update(key) { $0.willAskStore() }
        waitForStore(key, flight)
    }

    /// The turn is that of the client that wants the image most urgently.
    private mutating func waitForStore(_ key: CacheKey, _ flight: Flight) {
        guard let flow = flow(of: key, flight.id) else { return }
        store?.lookups.add(key, flow.priority, for: flow.client)
    }

    /// Asks the store about the downloads whose turn it is.
    mutating func startLookups(_ effects: inout Effects) {
        guard store?.lookups.isAnyWaiting == true else { return }
        guard store?.reads.reason == nil || store?.reads.admits == true else {
            return leaveStore(&effects)
        }
        while mayStart, let (key, user) = takeLookup() { ask(key, for: user, &effects) }
    }

    private mutating func takeLookup() -> (key: CacheKey, user: UserID)? {
        guard let store, store.reads.admits else { return nil }
        return self.store?.lookups.takeNext(
            limit: store.concurrency.limit, prefetches: scheduler.permitsPrefetches)
    }

    private mutating func ask(_ key: CacheKey, for user: UserID, _ effects: inout Effects) {
        guard let flight = downloads[key], let store else { return }
        let question = StoreQuestion(
            name: flight.name, isAboutEntry: disk.contains(key),
            limit: store.latency.limit(atMost: store.policy.timeout))
        downloads.update(key) { $0.asksStore() }
        self.store?.reads.began()
        self.store?.lookups.began(flight.id, for: user)
        self.store?.counters.lookups += 1
        effects.work.append(.askStore(flight.id, key, flight.url, hints(for: key), question))
        changed(key, &effects)
    }

    /// The store is not asked for now: the downloads that wait for their turn there queue for their origins, some at a
    /// time.
    private mutating func leaveStore(_ effects: inout Effects) {
        for key in store?.lookups.someWaiting(limit: Self.leavingSlice) ?? [] {
            store?.lookups.forget(key)
            leaveStore(key, nil, &effects)
        }
        // ``storeTimePassed(now:_:)`` follows.
        if store?.lookups.isAnyWaiting == true { effects.work.append(.wakeStoreWriter) }
    }

    /// Downloads that leave the store under one hold of the lock.
    private static var leavingSlice: Int { 512 }

    private mutating func leaveStore(
        _ key: CacheKey, _ finding: StoreFinding?, _ effects: inout Effects
    ) {
        // Without a reservation no space becomes free.
        undo(key, freesSpace: disk.space.holds(key), &effects) { $0.leavesStore(finding) }
    }

    // MARK: Answers

    /// The store has the image, and it was checked. It is published.
    package mutating func foundInStore(
        _ key: CacheKey, _ id: FlightID, size: Int64, reuse: Reuse, after time: Duration?,
        _ effects: inout Effects
    ) {
        succeeded(id, time, &effects)
        store?.counters.hits += 1
        if reuse != .fresh { store?.counters.stale += 1 }
        store?.counters.bytesFrom += size
        guard downloads.flight(key, id) != nil else { return startTransfers(&effects) }
        transferProgressed(key, id, received: size, total: size, &effects)
        downloads.update(key) { $0.storeReuse = reuse }
        publish(key, .publish(id, key), &effects)
    }

    /// The store has the same image as the entry, and it is fresh there.
    package mutating func confirmedByStore(
        _ key: CacheKey, _ id: FlightID, after time: Duration?, _ effects: inout Effects
    ) {
        succeeded(id, time, &effects)
        store?.counters.hits += 1
        guard downloads.flight(key, id) != nil else { return startTransfers(&effects) }
        publish(key, .confirm(id, key), &effects)
    }

    /// The store did not bring the image. Its origin is asked.
    ///
    /// - Parameter time: the time from the question to the head of the answer. `nil` if there was none.
    package mutating func notInStore(
        _ key: CacheKey, _ id: FlightID, _ answer: StoreAnswer, after time: Duration?,
        now: Moment, using random: inout some RandomNumberGenerator, _ effects: inout Effects
    ) {
        let finding = take(answer, id, time, now, using: &random, &effects)
        // A download that was queued again for lack of space has another identifier.
        if downloads.flight(key, id) != nil {
            leaveStore(key, finding, &effects)
            if finding == .missing { spread(key, now, using: &random, &effects) }
        }
        startTransfers(&effects)
    }

    private mutating func succeeded(
        _ id: FlightID, _ time: Duration?, _ effects: inout Effects
    ) {
        guard store != nil else { return }
        store?.lookups.ended(id)
        store?.hasSucceeded = true
        store?.concurrency.answered()
        if let time { store?.latency.add(time) }
        let wasLeftAlone = store?.reads.reason != nil
        store?.reads.succeeded()
        if wasLeftAlone, store?.reads.reason == nil {
            report(.recovered(isWriting: false), &effects)
        }
    }

    /// Counts an answer. Returns what is known about the object.
    private mutating func take(
        _ answer: StoreAnswer, _ id: FlightID, _ time: Duration?, _ now: Moment,
        using random: inout some RandomNumberGenerator, _ effects: inout Effects
    ) -> StoreFinding? {
        store?.lookups.ended(id)
        switch answer {
        case .missing:
            succeeded(id, time, &effects)
            store?.counters.misses += 1
            return .missing
        case .stale:
            succeeded(id, time, &effects)
            store?.counters.stale += 1
            return .stale
        case .bad(let problem):
            succeeded(id, time, &effects)
            store?.counters.bad += 1
            store?.note(problem, at: now.time)
            // A bucket full of wrong objects fills no log.
            if store?.counters.bad.nonzeroBitCount == 1 { report(.bad(problem), &effects) }
            return .stale
        case .late: fail(nil, now, using: &random, &effects)
        case .failed(let cause): fail(cause, now, using: &random, &effects)
        case .overloaded(let seconds): overloaded(seconds, now, using: &random, &effects)
        case .refused(let refusal):
            return refuse(refusal, id, time, now, &effects)
        case .notAsked, .withdrawn: store?.reads.wasWithdrawn()
        }
        return nil
    }

    private mutating func fail(
        _ cause: String?, _ now: Moment, using random: inout some RandomNumberGenerator,
        _ effects: inout Effects
    ) {
        store?.counters.late += 1
        store?.note(cause ?? "the answer came too late", at: now.time)
        if store?.reads.failed(now: now.instant, using: &random) == true {
            report(.late(isWriting: false, cause: cause), &effects)
        }
        effects.work.append(.wakeStoreWriter)
    }

    private mutating func overloaded(
        _ seconds: Int64?, _ now: Moment, using random: inout some RandomNumberGenerator,
        _ effects: inout Effects
    ) {
        store?.concurrency.wasTooMuch()
        fail("the store is overloaded", now, using: &random, &effects)
        guard let seconds, seconds > 0 else { return }
        let pause = min(.seconds(seconds), StoreBreaker.longestPause)
        if store?.reads.refused(now: now.instant, for: pause, reason: .late) == true {
            report(.late(isWriting: false, cause: "the store is overloaded"), &effects)
        }
    }

    private mutating func refuse(
        _ refusal: StoreRefusal, _ id: FlightID, _ time: Duration?, _ now: Moment,
        _ effects: inout Effects
    ) -> StoreFinding? {
        if refusal.canMeanMissing, store?.hasSucceeded == true {
            succeeded(id, time, &effects)
            store?.counters.misses += 1
            if store?.hidesMissing == false { report(.hidesMissing, &effects) }
            store?.hidesMissing = true
            return .missing
        }
        store?.counters.refused += 1
        store?.note("\(refusal.code): \(refusal.remedy)", at: now.time)
        if store?.reads.refused(now: now.instant) == true {
            report(.refused(isWriting: false, refusal), &effects)
        }
        effects.work.append(.wakeStoreWriter)
        return nil
    }

    func report(_ news: StoreNews, _ effects: inout Effects) {
        effects.notices.append(.store(news))
    }

    // MARK: Spreading

    /// Lets a prefetch wait for a random time before it asks the store once more, so that not every machine with the same
    /// schedule asks the origin.
    private mutating func spread(
        _ key: CacheKey, _ now: Moment, using random: inout some RandomNumberGenerator,
        _ effects: inout Effects
    ) {
        guard let longest = store?.policy.spread, longest > .zero, let flight = downloads[key],
            flight.isQueued, !flight.hasSpread, urgency(of: flight) == .background
        else { return }
        dequeue(key, flight)
        let end = now.instant + longest * Double.random(in: 0...1, using: &random)
        downloads.update(key) { $0.spreads(until: end) }
        if scheduler.pauses(key, flight.id, until: end) { effects.work.append(.planRetry) }
    }

    /// The wait is over. Another machine may have brought the image to the store.
    mutating func spreadingEnded(_ key: CacheKey) {
        downloads.update(key) { $0.endsSpreading() }
        askStoreOrQueue(key)
    }

    // MARK: Images of the store

    /// Whether the published image of the store is not the answer for all callers: it is stale, or a caller wants to
    /// know what the origin says.
    func isOnlyPartOfAnswer(_ publication: Publication, _ flight: Flight) -> Bool {
        guard flight.source == .store, mayContinue(flight), case .success = publication.result
        else { return false }
        return flight.storeReuse != .fresh
            || flight.waiters.contains { waiters[$0]?.isRefresh == true }
    }

    /// Enters the image, settles the callers that it is good enough for, and asks the origin for the others.
    mutating func takeFromStore(
        _ publication: Publication, _ flight: Flight, isCurrent: Bool, _ effects: inout Effects
    ) {
        let key = publication.key
        guard case .success(let facts) = publication.result else { return }
        enter(facts, publication, flight, isCurrent: isCurrent, &effects)
        if flight.storeReuse != .mustRevalidate {
            let content = flight.waiters.filter { waiters[$0]?.isRefresh != true }
            downloads.update(key) { $0.waiters.subtract(content) }
            setDetached(key, nil)
            let client = self.client(of: flight)
            if flight.storeReuse == .staleWhileRevalidating,
                waiters.detached.admits(1, of: client.user)
            {
                setDetached(key, Flight.Detached(client: client))
            }
            settle(key, content, nil, &effects)
        }
        if downloads[key]?.isWanted == true {
            undo(key, &effects) { $0.asksOriginToo() }
        } else {
            endFlight(key, &effects)
            changed(key, &effects)
        }
    }

    /// The client on whose behalf the origin is asked after a caller has had its answer.
    func client(of flight: Flight) -> ClientID {
        flight.detached?.client ?? flight.waiters.min().flatMap { waiters[$0]?.client } ?? .daemon
    }
}
