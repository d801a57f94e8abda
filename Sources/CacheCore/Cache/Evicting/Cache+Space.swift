import CLinux
import CacheDisk
public import CacheFetching
internal import CacheKey
import CacheModel
public import CacheValues
import Glibc
internal import Synchronization
internal import SystemPackage

/// Keeping the cache within its limits.
extension Cache {
    /// The shortest time between two measurements of the free space. Bytes that other programs write in between
    /// are noticed late.
    private static let measuringPause = Duration.milliseconds(5)

    /// Evicts the least recently used entries until the cache holds at most `bytes`. Pinned entries, entries
    /// that are being downloaded again, and partials stay.
    ///
    /// - Parameters:
    ///   - limit: the eviction also ends at the first entry that was fetched at this time or later.
    ///   - reason: the reason in the history.
    ///   - completion: called on a thread of the cache once the files are unlinked, with the failure if the eviction
    ///     ended early.
    public func evict(
        toBytes bytes: Int64, fetchedBefore limit: UnixTime? = nil,
        because reason: HistoryEvent.Reason = .requested,
        completion: @escaping @Sendable (Removal, Failure?) -> Void
    ) {
        guard directory.isInPlace else { return completion(.nothing, directory.lost) }
        drainWatch()
        probeDirtyNames()
        retryUnevictable()
        let goal = EvictionGoal(bytes: bytes, fetchedBefore: limit)
        evict(
            Eviction(goal: goal, removing: Removing(because: reason), completion: completion))
    }

    /// Evicts the entries that are chosen and not used meanwhile. Pinned entries stay, and those that are being downloaded
    /// again.
    public func evict(
        _ choice: EntryChoice, because reason: HistoryEvent.Reason,
        completion: @escaping @Sendable (Removal, Failure?) -> Void = { _, _ in }
    ) {
        guard directory.isInPlace else { return completion(.nothing, directory.lost) }
        retryUnevictable()
        let goal = EvictionGoal(bytes: 0)
        evict(
            Eviction(
                goal: goal, chosen: chosen(choice)[...], removing: Removing(because: reason),
                completion: completion))
    }

    /// Evicts the entries that were not used for the longest time that the limits permit, if there is one.
    func evictUnused() {
        guard let time = settings.limits.maximumUnused else { return }
        let end = UnixTime.now + -time.components.seconds
        var choice = EntryChoice()
        choice.byFacts = { $0.facts.lastUsedAt.unixTime < end }
        evict(choice, because: .unused)
    }

    /// Queues an eviction. It runs beside publications, because no eviction takes an entry that is in flight.
    func evict(_ eviction: Eviction) {
        worker.enqueue(.runBeside { self.continueEviction(eviction, until: $0) })
    }

    /// Evicts at least one slice, and more until `end`. Queues the rest behind the other work of the directory's
    /// thread.
    private func continueEviction(_ eviction: Eviction, until end: ContinuousClock.Instant) {
        var eviction = eviction
        repeat {
            guard evictSlice(&eviction) else { return }
        } while .now < end
        evict(eviction)
    }

    /// Evicts one slice. Returns whether another has to follow.
    private func evictSlice(_ eviction: inout Eviction) -> Bool {
        let slice: (victims: [Victim], isLast: Bool)? = run { [eviction] state, effects in
            guard !state.postpones({ self.evict(eviction) }) else { return nil }
            if let chosen = eviction.chosen { return state.evictionSlice(of: chosen, &effects) }
            return state.evictionSlice(eviction.goal, isOwn: eviction.isOwn, &effects)
        }
        guard let (victims, isLast) = slice else { return false }
        eviction.chosen = eviction.chosen?.dropFirst(VictimSearch.slice)
        let isComplete = remove(victims, &eviction.removing)
        let (freed, stuck) = (eviction.removing.freed, eviction.removing.stuck)
        if eviction.removing.isInVain {
            if eviction.isOwn { run { state, _ in state.disk.space.evictionGivenUp() } }
            eviction.completion(freed, notRemoved(stuck))
            return false
        }
        // If a file could not be unlinked, another one can be evicted for it.
        guard isLast, isComplete else { return true }
        let (isMissed, isDraining) = read { state in
            (state.disk.isOver(eviction.goal, isOwn: eviction.isOwn), state.fetching.isDraining)
        }
        let isShort = isMissed && (stuck > 0 || isDraining)
        eviction.completion(freed, !isShort ? nil : stuck > 0 ? notRemoved(stuck) : .shuttingDown)
        return false
    }

    private func isKnownToStay(_ victim: Victim) -> Bool {
        guard case .entry(let key) = victim.name else { return false }
        return read { $0.disk.space.unlinkFailed.contains(key) }
    }

    /// Unlinks the files of victims. Returns whether all are gone. A file that can't be unlinked stays and is
    /// skipped from now on, because others can be evicted in its place. If the directory was moved away, all
    /// files stay: the user may want to keep them.
    private func remove(_ victims: [Victim], _ removing: inout Removing) -> Bool {
        if !victims.isEmpty, !directory.isInPlace { removing.giveUp() }
        let urls = urls(of: victims)
        var gone: [Victim] = []
        var stuck: [Victim] = []
        var rest = victims[...]
        while !removing.isInVain, let victim = rest.popFirst() {
            do {
                try directory.remove(victim)
                gone.append(victim)
                removing.went(victim)
            } catch {
                // A file that could not be unlinked before is in the log already.
                if stuck.isEmpty, !isKnownToStay(victim) {
                    directory.log(error, of: victim, logger)
                }
                stuck.append(victim)
                removing.stayed()
            }
        }
        remember(gone, urls, removing.reason)
        // Each unlink adds an event to the queue of the watch, which is bounded.
        drainWatch()
        let othersMayGo = !removing.isInVain
        let free = gone.isEmpty ? nil : directory.freeBytes
        run { state, effects in
            state.unlinked(gone, &effects)
            state.unlinkAborted(rest, &effects)
            state.unlinkFailed(stuck, othersCould: othersMayGo, &effects)
            // The ledger took the bytes for free. Those of files that programs have open are not.
            if let free { state.disk.measured(free: free) }
        }
        return gone.count == victims.count
    }

    /// The URLs of some of the entries that are about to be evicted. Reading them costs a quarter of an unlink; of most of
    /// the others, the history knows the URL from an earlier event.
    private func urls(of victims: [Victim]) -> [CacheKey: String] {
        var urls: [CacheKey: String] = [:]
        for victim in victims.lazy.filter(\.isEvicted).suffix(Self.namedVictims) {
            guard case .entry(let key) = victim.name else { continue }
            let url = ifPossible { () throws(Errno) in try directory.url(of: key) }
            urls[key] = url.flatMap { key.isName(of: $0) ? $0 : nil }
        }
        return urls
    }

    /// The victims in a slice whose URLs are read.
    private static let namedVictims = 16

    private func remember(
        _ gone: [Victim], _ urls: [CacheKey: String], _ reason: HistoryEvent.Reason?
    ) {
        let evicted = gone.filter(\.isEvicted)
        guard !evicted.isEmpty else { return }
        let reason = reason ?? read { $0.disk.space.isShortOfDisk ? .diskSpace : .budget }
        history.add(
            evicted.compactMap { victim in
                guard case .entry(let key) = victim.name else { return nil }
                return HistoryEvent(
                    .evicted, key, urls[key], bytes: victim.bytes, because: reason)
            })
    }

    /// Makes the next eviction try the files again that could not be unlinked before.
    func retryUnevictable() {
        run { state, _ in state.disk.space.retryAllEvictions() }
    }

    /// Reserves space for a download before it writes. The transfer thread calls this, and unlinks the victims
    /// itself, slice by slice.
    func reserve(
        for key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?
    ) throws(Failure) -> Int64 {
        var removing = Removing()
        while !removing.isInVain {
            let answer = runMeasured {
                $0.fetching.spaceRequested(key, id, needed: needed, length: length, &$1)
            }
            if !answer.victims.isEmpty { _ = remove(answer.victims, &removing) }
            switch answer.grant {
            // If a victim could not be unlinked, or a program has its file open, the next round selects others.
            case .granted(let bytes): if answer.victims.isEmpty { return bytes }
            case .refused(let failure): throw failure
            case .evicting: break
            }
        }
        throw .cannotMakeRoom(directory.path)
    }

    /// Evicts entries after a write failed because the disk is full, although the space was reserved. The causes
    /// are other programs' writes, a lack of inodes, and quotas. The writing thread calls this for a download
    /// that needs `bytes` more. Returns whether all victims could be unlinked.
    func makeRoom(for key: CacheKey, _ bytes: Int64) -> Bool {
        // The least recently used entries are known only after the scan. The writing thread waits for it,
        // because on a full disk it could do nothing else.
        waitForScan()
        var removing = Removing(because: .diskSpace)
        while !removing.isInVain {
            let missing = bytes - removing.freed.bytes
            let victims = run { $0.fetching.diskFilled(key, missing, &$1) }
            guard !victims.isEmpty else { return removing.freed.bytes > 0 }
            if remove(victims, &removing), removing.freed.bytes >= max(bytes, 1) { return true }
        }
        return false
    }

    /// Returns the failure if the cache can't take a response whose header announces `length` bytes. The
    /// transfer thread calls this before any of them arrives.
    func refusal(of key: CacheKey, _ id: FlightID, length: Int64) -> Failure? {
        runMeasured { state, _ in state.fetching.lengthPromised(key, id, length) }
    }

    /// Measures the free bytes and runs an event, unless they were measured just now and there were enough. The ledger
    /// counts the cache's own bytes anyway.
    ///
    /// It is one step: what is written between a measurement and its event counts as free and as written. That is no more
    /// than the pieces of the ``BodyThread``.
    private func runMeasured<Answer>(
        _ event: (inout CacheState, inout Effects) -> Answer
    ) -> Answer {
        let last = measuredAt.withLock { $0 }
        let isRecent = last.map { .now - $0 < Self.measuringPause } ?? false
        let free = isRecent && !read { $0.disk.space.isShortOfDisk } ? nil : measuredFreeBytes()
        return run { state, effects in
            if let free { state.disk.measured(free: free) }
            return event(&state, &effects)
        }
    }

    private func measuredFreeBytes() -> Int64? {
        measuredAt.withLock { $0 = .now }
        return directory.freeBytes
    }

    /// Asks the file system for its free bytes. If that fails, the last measurement stays in force.
    func measure() {
        guard let free = measuredFreeBytes() else { return }
        run { state, _ in state.disk.measured(free: free) }
    }
}

extension Failure {
    static func cannotMakeRoom(_ path: String) -> Failure {
        Failure(
            .storage,
            "no room could be made in \(path) because files there can't be removed; the log says which"
        )
    }
}

extension CacheDirectory {
    /// Free bytes of the file system for users other than root. `nil` if it has no size, or can't be asked.
    /// statfs(2).
    var freeBytes: Int64? {
        do {
            let facts = try kernel.fileSystem(of: descriptor)
            return facts.f_blocks > 0 ? facts.bytes(of: facts.f_bavail) : nil
        } catch {
            return nil
        }
    }

    /// The type of the file system that the directory is on; `nil` if it can't be asked.
    var fileSystemType: FileSystemType? {
        do {
            return FileSystemType(try kernel.fileSystem(of: descriptor))
        } catch {
            return nil
        }
    }

    /// The limits, with the defaults for this file system. Fails if the minimum of free space is not less than
    /// the size of the file system: then no entry could be kept.
    func budget(_ limits: Limits) throws(CacheError) -> Budget {
        let size = try Self.attempt("measure the file system of", path) { () throws(Errno) in
            let facts = try kernel.fileSystem(of: descriptor)
            // Some file systems have no size, for example a tmpfs that may use all memory.
            return facts.f_blocks > 0 ? facts.bytes(of: facts.f_blocks) : .max
        }
        if let floor = limits.minimumFree, floor >= size {
            throw CacheError(
                .wrongLimit,
                "\(floor) bytes are to stay free (--min-free), but the file system of \(path) has only \(size); "
                    + "choose a smaller number or another directory")
        }
        return Budget(limits, fileSystem: size)
    }
}

extension statfs {
    /// The bytes of a number of blocks. The product can overflow: a file system in user space can report any
    /// number.
    fileprivate func bytes(of blocks: fsblkcnt_t) -> Int64 {
        let (bytes, overflows) = Int64(clamping: blocks).multipliedReportingOverflow(
            by: Int64(f_frsize > 0 ? f_frsize : f_bsize))
        return overflows ? .max : bytes
    }
}
