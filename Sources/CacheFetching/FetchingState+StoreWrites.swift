import CacheDisk
package import CacheKey
package import CacheValues

/// Writes to the store that several machines share.
///
/// Only names wait in the queue. The file is opened when its turn comes, and an entry that was evicted until then is
/// not written.
extension FetchingState {
    // MARK: Writing

    /// An image of an origin was published.
    package mutating func putInStore(_ key: CacheKey, _ flight: Flight, _ effects: inout Effects) {
        guard store != nil, flight.source == .origin, hasCommonName(flight) else { return }
        guard flight.isShareable else {
            self.store?.unshareable.insert(key)
            // The other machine's object was for everybody, and this image is not.
            if flight.isKnownToStore { deleteFromStore(key, flight, &effects) }
            return
        }
        self.store?.unshareable.remove(key)
        guard disk.facts(of: key) != nil else { return }
        write(StoreTask(flight.storeFinding == .missing ? .create : .replace, key), &effects)
    }

    /// An origin confirmed an entry. The store learns of it if that saves others enough questions.
    package mutating func renewInStore(
        _ key: CacheKey, _ flight: Flight, _ end: RevalidationEnd, _ effects: inout Effects
    ) {
        guard let renew = store?.policy.renew, flight.source == .origin, hasCommonName(flight),
            case .stored = end
        else { return }
        guard flight.isShareable else {
            let isKnown = store?.unshareable.contains(key) == true
            store?.unshareable.insert(key)
            return isKnown ? () : deleteFromStore(key, flight, &effects)
        }
        guard flight.confirmedLifetime >= renew else { return }
        write(StoreTask(flight.storeFinding == .missing ? .create : .renew, key), &effects)
    }

    /// The origin has the image no more, or it is not for others any more. The store has it if that was seen, or if this
    /// machine has it.
    mutating func deleteFromStore(_ key: CacheKey, _ flight: Flight, _ effects: inout Effects) {
        let mayBeThere = flight.storeFinding == nil ? disk.contains(key) : flight.isKnownToStore
        guard mayBeThere, hasCommonName(flight) else { return }
        write(StoreTask(.delete, key), &effects)
    }

    /// A user wants these images to be deleted from the store too.
    ///
    /// - Returns: whether there is a store that may be written to.
    package mutating func deletionAsked(_ keys: some Sequence<CacheKey>, _ effects: inout Effects)
        -> Bool
    {
        guard store?.policy.writes == true else { return false }
        for key in keys { write(StoreTask(.delete, key), &effects) }
        return true
    }

    private mutating func write(_ task: StoreTask, _ effects: inout Effects) {
        guard store?.policy.writes == true else { return }
        if store?.queue.append(task) == true { store?.counters.dropped += 1 }
        effects.work.append(.wakeStoreWriter)
    }

    // MARK: Writing

    /// Takes the next write, if one may begin.
    package mutating func takeStoreTask() -> StoreTask? {
        guard store?.writes.admits == true, let writing = store?.writing,
            writing.count < store?.writeLimit ?? 0,
            let task = store?.queue.takeFirst(where: { !writing.contains($0.key) })
        else { return nil }
        store?.writing.insert(task.key)
        store?.writes.began()
        return task
    }

    /// A write ended.
    package mutating func storeTaskEnded(
        _ task: StoreTask, _ end: StoreWriteEnd, now: Moment,
        using random: inout some RandomNumberGenerator, _ effects: inout Effects
    ) {
        store?.writing.remove(task.key)
        switch end {
        case .written(let bytes):
            store?.counters.uploads += 1
            store?.counters.bytesTo += bytes
            wrote(&effects)
            if store?.isMarked == false { write(.mark, &effects) }
            store?.isMarked = true
        case .marked: wrote(&effects)
        case .deleted:
            store?.counters.deleted += 1
            wrote(&effects)
        case .renewed:
            store?.counters.renewed += 1
            wrote(&effects)
        case .wasThere:
            store?.counters.uploadsThere += 1
            wrote(&effects)
        case .nothingToRenew:
            wrote(&effects)
            write(StoreTask(.create, task.key), &effects)
        case .obsolete: store?.writes.wasWithdrawn()
        case .failed(let cause): tryAgain(task, cause, now, using: &random, &effects)
        case .overloaded(let seconds):
            tryAgain(task, "the store is overloaded", now, using: &random, &effects)
            if let seconds, seconds > 0 {
                _ = store?.writes.wantsPause(of: seconds, now: now.instant)
            }
        case .refused(let refusal): refuseWrite(refusal, now, using: &random, &effects)
        }
    }

    private mutating func wrote(_ effects: inout Effects) {
        let wasLeftAlone = store?.writes.reason != nil
        store?.wrote()
        if wasLeftAlone, store?.writes.reason == nil {
            report(.recovered(isWriting: true), &effects)
        }
        guard store?.hasSucceeded == false else { return }
        store?.hasSucceeded = true
        // A store that hides what is missing was perhaps taken for one that refuses everything.
        if store?.reads.reason == .refused { store?.reads.close() }
    }

    private mutating func tryAgain(
        _ task: StoreTask, _ cause: String, _ now: Moment,
        using random: inout some RandomNumberGenerator, _ effects: inout Effects
    ) {
        store?.note(cause, at: now.time)
        store?.wroteInVain()
        if store?.writes.failed(now: now.instant, using: &random) == true {
            report(.late(isWriting: true, cause: cause), &effects)
        }
        var task = task
        task.failures += 1
        guard task.failures < Self.storeAttempts, (store?.delayed.count ?? 0) < Self.delayedLimit
        else {
            store?.counters.dropped += 1
            return
        }
        let pause = Duration.seconds(1 << (task.failures - 1))
        let due = now.instant + pause * Double.random(in: 0.75...1.25, using: &random)
        store?.delayed.append((due, task))
    }

    private mutating func refuseWrite(
        _ refusal: StoreRefusal, _ now: Moment, using random: inout some RandomNumberGenerator,
        _ effects: inout Effects
    ) {
        store?.counters.refused += 1
        store?.counters.dropped += 1
        store?.note(refusal, at: now.time)
        if store?.writes.refused(now: now.instant, using: &random) == true {
            report(.refused(isWriting: true, refusal), &effects)
        }
    }

    private static var storeAttempts: UInt8 { 3 }
    private static var delayedLimit: Int { 1024 }

    // MARK: Time

    /// Time has passed: writes are tried again, and a store that was left alone is.
    package mutating func storeTimePassed(
        now: ContinuousClock.Instant, _ effects: inout Effects
    ) {
        guard store != nil else { return }
        _ = store?.reads.timePassed(now: now)
        _ = store?.writes.timePassed(now: now)
        for (_, task) in store?.delayed.filter({ $0.due <= now }) ?? [] {
            _ = store?.queue.append(task)
        }
        store?.delayed.removeAll { $0.due <= now }
        if store?.lookups.isAnyWaiting == true { startQueued(&effects) }
    }

    /// The machine is on another network, where the store may be in reach, and hosts others; or settings or credentials
    /// have changed.
    package mutating func storeMayBeInReach() {
        store?.localOrigins = Recent(capacity: 1024)
        store?.reads.close()
        store?.writes.close()
        store?.pace = StorePace()
    }

    /// Whether nothing has to be written any more.
    package var isStoreWritten: Bool {
        guard let store else { return true }
        return store.queue.isEmpty && store.writing.isEmpty
    }
}
