import CacheDisk
package import CacheKey
package import CacheValues

/// Questions to the store that several machines share.
///
/// A new download asks the store before it queues for its origin. Questions hold no slot of the scheduler: they have
/// connections of their own.
extension FetchingState {
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
    package mutating func transferIsLocal(
        _ key: CacheKey, _ id: FlightID, _ effects: inout Effects
    ) {
        guard let flight = downloads.flight(key, id) else { return }
        if flight.hasClaim { deleteFromStore(key, flight, &effects) }
        store?.localOrigins.insert(flight.origin)
    }

    /// A caller has joined a download. If the download waits for its turn at the store, or for its original, that may
    /// come earlier.
    mutating func urgencyChanged(_ key: CacheKey, _ effects: inout Effects) {
        guard let flight = downloads[key] else { return }
        if flight.awaitsOriginal { return findOriginal(key, flight, &effects) }
        guard store != nil else { return }
        if flight.waitsForStore { waitForStore(key, flight) }
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

    /// A copy of the whole store here would copy every question that waits.
    private mutating func takeLookup() -> (key: CacheKey, user: UserID)? {
        guard store?.reads.admits == true else { return nil }
        return store?.lookups.takeNext(prefetches: scheduler.permitsPrefetches)
    }

    private mutating func ask(
        _ key: CacheKey, for user: UserID, claims: Bool = false, _ effects: inout Effects
    ) {
        guard let flight = downloads[key],
            let question = store?.question(
                flight.name, isAboutEntry: disk.contains(key), claims: claims,
                // A claim saves more than a slow answer costs.
                isPatient: claims || urgency(of: flight) == .background
                    || flight.awaitedSince != nil)
        else { return }
        downloads.update(key) { $0.asksStore() }
        store?.reads.began()
        store?.lookups.began(flight.id, for: user)
        if !claims { store?.counters.lookups += 1 }
        effects.work.append(.askStore(flight.id, key, flight.url, hints(for: key), question))
        changed(key, &effects)
    }

    /// How long an answer may take by now. Answers to questions that were asked together come one after the other, so the
    /// first ones, and one that is late, show how long the others can take.
    package var storePatience: StorePatience? {
        store.map { $0.pace.patience(atMost: $0.policy.timeout) }
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
        _ key: CacheKey, _ finding: StoreFinding?, isLate: Bool = false, hadSlot: Bool = false,
        _ effects: inout Effects
    ) {
        let next = isLate ? FlightID(rawValue: nextID()) : nil
        // Without a reservation no space becomes free.
        undo(key, atFront: hadSlot, freesSpace: disk.space.holds(key), &effects) {
            $0.leavesStore(finding, beside: next)
        }
    }

    // MARK: Answers

    /// The store has the image, and it was checked. It is published.
    ///
    /// - Parameters:
    ///   - time: the time from the question to the head of the answer. `nil` if it was late, which was counted then.
    ///   - whole: that to its end. `nil` for the same.
    package mutating func foundInStore(
        _ key: CacheKey, _ id: FlightID, size: Int64, reuse: Reuse, after time: Duration?,
        whole: Duration? = nil, _ effects: inout Effects
    ) {
        succeeded(id, time, whole: whole, size: size, &effects)
        returnToStore(key, id, &effects)
        guard downloads.flight(key, id) != nil else { return startTransfers(&effects) }
        store?.counters.hits += 1
        if reuse != .fresh { store?.counters.stale += 1 }
        store?.counters.bytesFrom += size
        transferProgressed(key, id, received: size, total: size, &effects)
        downloads.update(key) { $0.storeReuse = reuse }
        publish(key, .publish(id, key), &effects)
    }

    /// If the answer of the store was late, but comes before that of the origin, the origin is not needed.
    private mutating func returnToStore(
        _ key: CacheKey, _ id: FlightID, _ effects: inout Effects
    ) {
        guard let flight = downloads[key], flight.late == id, flight.takesLateAnswer else { return }
        if flight.hasSlot { cancel(key, flight, discardsPartial: false, &effects) }
        if flight.isQueued { dequeue(key, flight) }
        undo(key, freesSpace: disk.space.holds(key), &effects) { $0.returnsToStore() }
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
        let hadSlot = scheduler.isTaken(by: id)
        let finding = take(answer, id, time, now, using: &random, &effects)
        // A download that was queued again for lack of space has another identifier.
        if downloads.flight(key, id) != nil {
            leaveStore(key, finding, isLate: answer == .later, hadSlot: hadSlot, &effects)
            if answer == .awaited || finding == nil && downloads[key]?.awaitedSince != nil {
                waitForOthers(key, now, using: &random, &effects)
            }
        }
        startTransfers(&effects)
    }

    /// A claim is put with the slot of its download. Another download may have it now.
    private mutating func questionEnded(_ id: FlightID) {
        store?.lookups.ended(id)
        if scheduler.isTaken(by: id) { transferEnded(id) }
    }

    private mutating func succeeded(
        _ id: FlightID, _ time: Duration?, whole: Duration? = nil, size: Int64 = 0,
        _ effects: inout Effects
    ) {
        questionEnded(id)
        store?.hasSucceeded = true
        guard let time else { return }
        store?.pace.answered(head: time, whole: whole ?? time, size: size)
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
        questionEnded(id)
        switch answer {
        case .missing:
            succeeded(id, time, &effects)
            store?.counters.misses += 1
            store?.showsMissing = true
            return .missing
        case .claimed:
            succeeded(id, time, &effects)
            store?.counters.claims += 1
            return .claimed
        case .awaited:
            succeeded(id, time, &effects)
            store?.counters.awaited += 1
        case .stale:
            succeeded(id, time, &effects)
            store?.counters.stale += 1
            return .stale
        case .bad(let problem):
            return isBad(problem, id, time, now, &effects)
        case .late, .later: fail(nil, now, using: &random, &effects)
        case .failed(let cause): fail(cause, now, using: &random, &effects)
        case .overloaded(let seconds): overloaded(seconds, now, using: &random, &effects)
        case .refused(let refusal)
        where refusal.canMeanMissing && store?.hasSucceeded == true:
            return deny(refusal, id, time, now, &effects)
        case .refused(let refusal): refuseQuestions(refusal, now, using: &random, &effects)
        case .notAsked, .withdrawn: store?.reads.wasWithdrawn()
        }
        return nil
    }

    private mutating func fail(
        _ cause: String?, _ now: Moment, using random: inout some RandomNumberGenerator,
        _ effects: inout Effects
    ) {
        store?.counters.late += 1
        store?.pace.wasLate()
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
        fail("the store is overloaded", now, using: &random, &effects)
        guard let seconds, seconds > 0 else { return }
        if store?.reads.wantsPause(of: seconds, now: now.instant) == true {
            report(.late(isWriting: false, cause: "the store is overloaded"), &effects)
        }
    }

    /// The object cannot be used. Its origin's image will replace it.
    private mutating func isBad(
        _ problem: String, _ id: FlightID, _ time: Duration?, _ now: Moment,
        _ effects: inout Effects
    ) -> StoreFinding {
        succeeded(id, time, &effects)
        store?.counters.bad += 1
        store?.note(problem, at: now.time)
        // A bucket full of wrong objects fills no log.
        if store?.counters.bad.nonzeroBitCount == 1 { report(.bad(problem), &effects) }
        return .stale
    }

    /// The store denies one object to a key that may read others. If it says of other objects that they are missing, this
    /// one is there.
    private mutating func deny(
        _ refusal: StoreRefusal, _ id: FlightID, _ time: Duration?, _ now: Moment,
        _ effects: inout Effects
    ) -> StoreFinding {
        guard store?.showsMissing == false else {
            return isBad("the store denies it: \(refusal.code)", id, time, now, &effects)
        }
        succeeded(id, time, &effects)
        store?.counters.misses += 1
        if store?.hidesMissing == false { report(.hidesMissing, &effects) }
        store?.hidesMissing = true
        return .missing
    }

    private mutating func refuseQuestions(
        _ refusal: StoreRefusal, _ now: Moment, using random: inout some RandomNumberGenerator,
        _ effects: inout Effects
    ) {
        store?.counters.refused += 1
        store?.note(refusal, at: now.time)
        if store?.reads.refused(now: now.instant, using: &random) == true {
            report(.refused(isWriting: false, refusal), &effects)
        }
        effects.work.append(.wakeStoreWriter)
    }

    /// Without credentials, neither a question nor a write can be asked.
    package mutating func storeLacksCredentials(
        _ refusal: StoreRefusal, _ now: Moment, using random: inout some RandomNumberGenerator,
        _ effects: inout Effects
    ) {
        guard let policy = store?.policy else { return }
        if policy.reads { refuseQuestions(refusal, now, using: &random, &effects) }
        if policy.writes { _ = store?.writes.refused(now: now.instant, using: &random) }
    }

    func report(_ news: StoreNews, _ effects: inout Effects) {
        effects.notices.append(.store(news))
    }

    // MARK: Claims

    /// Whether a download whose turn has come tells other machines first that this one downloads the image. Its slot waits
    /// meanwhile: a claim of a machine that has no slot yet would keep the others waiting for nothing.
    func isToClaim(_ key: CacheKey, _ flight: Flight) -> Bool {
        flight.storeFinding == .missing && !disk.contains(key) && hasCommonName(flight)
            && store?.claims(
                from: flight.origin, isPrefetch: urgency(of: flight) == .background) == true
    }

    mutating func claim(_ key: CacheKey, for client: ClientID, _ effects: inout Effects) {
        ask(key, for: client.user, claims: true, &effects)
    }

    /// Another machine downloads the image. Asks the store again after a moment, until that has taken too long.
    ///
    ///     machine 1   asks for a.png      missing: it waits for a slot, and puts a claim there
    ///     machine 2   asks for a.png      missing: it waits for a slot, and finds the claim
    ///     machine 1   has the image       puts it in the place of the claim
    ///     machine 2   asks for a.png      has it
    private mutating func waitForOthers(
        _ key: CacheKey, _ now: Moment, using random: inout some RandomNumberGenerator,
        _ effects: inout Effects
    ) {
        guard store != nil, let flight = downloads[key], flight.isQueued else { return }
        let isPrefetch = urgency(of: flight) == .background
        let longest = isPrefetch ? .seconds(StoreClaim.lifetime) : Self.longestWait
        let start = flight.awaitedSince ?? now.instant
        let last = start + longest
        guard now.instant < last else { return }
        dequeue(key, flight)
        let moment = Self.firstMoment + start.duration(to: now.instant) / 4
        let end = min(now.instant + moment * Double.random(in: 0.5...1.5, using: &random), last)
        downloads.update(key) { $0.waitsForOthers(from: now.instant, until: end) }
        if scheduler.pauses(key, flight.id, until: end) { effects.work.append(.planRetry) }
    }

    /// Nobody waits for a prefetch, and so not for a machine that has failed either.
    private static var longestWait: Duration { .seconds(1) }
    private static var firstMoment: Duration { .milliseconds(150) }

    /// The moment is over. The other machine may have brought the image to the store.
    mutating func waitForOthersEnded(_ key: CacheKey) {
        downloads.update(key) { $0.endsWaitForOthers() }
        askStoreOrQueue(key)
    }

    // MARK: Images of the store

    /// Whether the published image of the store is not the answer for all callers: it is stale, or a caller wants to
    /// know what the origin says.
    package func isOnlyPartOfAnswer(_ flight: Flight) -> Bool {
        guard flight.source == .store, mayContinue(flight) else { return false }
        return flight.storeReuse != .fresh
            || flight.waiters.contains { waiters[$0]?.isRefresh == true }
    }

    /// Settles the callers that the published image of the store is good enough for, and asks the origin for the others.
    package mutating func answerInPart(
        _ key: CacheKey, _ flight: Flight, _ effects: inout Effects
    ) {
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
