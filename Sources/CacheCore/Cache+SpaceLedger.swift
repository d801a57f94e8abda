import CLinux
internal import CacheKey
import Glibc
internal import Synchronization
internal import SystemPackage

/// One eviction on its way down, slice by slice.
struct Eviction: Sendable {
    let goal: EvictionGoal
    /// Begun by the cache itself to stay inside its limits.
    var isOwn = false
    var removing = Removing()
    var completion: @Sendable (Removal, Failure?) -> Void = { _, _ in }
}

/// How removing victims goes, over all rounds of it.
struct Removing: Sendable {
    /// Files in a row that can't be removed before others are not tried: it is not due to the files.
    private static let stubbornness = 8

    private(set) var freed = Removal()
    /// How many could not be removed.
    private(set) var stuck = 0
    private var stuckInARow = 0
    var isInVain: Bool { stuckInARow >= Self.stubbornness }

    mutating func went(_ victim: Victim) {
        freed = freed + Removal(entries: 1, bytes: victim.bytes)
        stuckInARow = 0
    }

    mutating func stayed() {
        stuck += 1
        stuckInARow += 1
    }

    /// All of them would.
    mutating func giveUp() {
        stuckInARow = Self.stubbornness
    }
}

/// Keeping inside the limits.
extension Cache {
    /// A file that was removed and whose bytes are not back may be open for so long; then more goes.
    private static let openPatience = Duration.seconds(600)
    /// What strangers write within it may be overlooked.
    private static let measuringPause = Duration.milliseconds(5)

    /// New limits; what is over them goes.
    public func apply(_ limits: Limits) throws(CacheError) {
        let budget = try directory.budget(limits)
        self.limits.withLock { $0 = limits }
        run { $0.limitsSet(budget, &$1) }
    }

    /// Evicts the least recently used until at most `bytes` are held; pinned entries, those in flight
    /// and partials stay. `completion` is called from the cache's own thread once the files are gone, with
    /// why it ended early if it did.
    public func evict(
        toBytes bytes: Int64, completion: @escaping @Sendable (Removal, Failure?) -> Void
    ) {
        guard directory.isInPlace else { return completion(.nothing, directory.lost) }
        drainWatch()
        probeDirtyNames()
        retryUnevictable()
        evict(Eviction(goal: EvictionGoal(bytes: bytes), completion: completion))
    }

    /// Beside publications: no eviction takes what is in flight.
    func evict(_ eviction: Eviction) {
        worker.enqueue(.runBeside { self.continueEviction(eviction, until: $0) })
    }

    /// Evicts slice by slice, at least one, and queues the rest behind whatever else the directory's thread
    /// has to do.
    private func continueEviction(_ eviction: Eviction, until end: ContinuousClock.Instant) {
        var eviction = eviction
        repeat {
            guard evictSlice(&eviction) else { return }
        } while .now < end
        evict(eviction)
    }

    /// Evicts a slice; whether another has to follow.
    private func evictSlice(_ eviction: inout Eviction) -> Bool {
        let slice: (victims: [Victim], isLast: Bool)? = run { [eviction] state, effects in
            guard !state.postpones({ self.evict(eviction) }) else { return nil }
            return state.evictionSlice(eviction.goal, isOwn: eviction.isOwn, &effects)
        }
        guard let (victims, isLast) = slice else { return false }
        let isComplete = remove(victims, &eviction.removing)
        let (freed, stuck) = (eviction.removing.freed, eviction.removing.stuck)
        if eviction.removing.isInVain {
            if eviction.isOwn { run { state, _ in state.space.isEvicting = false } }
            eviction.completion(freed, notRemoved(stuck))
            return false
        }
        // Others may go for what stays.
        guard isLast, isComplete else { return true }
        let (isMissed, isDraining) = read { state in
            (state.isOver(eviction.goal, isOwn: eviction.isOwn), state.isDraining)
        }
        let isShort = isMissed && (stuck > 0 || isDraining)
        eviction.completion(freed, !isShort ? nil : stuck > 0 ? notRemoved(stuck) : .shuttingDown)
        return false
    }

    private func isKnownToStay(_ victim: Victim) -> Bool {
        guard case .entry(let key) = victim.name else { return false }
        return read { $0.space.unlinkFailed.contains(key) }
    }

    /// Removes the files of victims; whether all of them are gone. What can't be removed stays, and is passed
    /// over from now on: there may be others. All stay in a directory that was moved away: somebody may want
    /// to keep it.
    private func remove(_ victims: [Victim], _ removing: inout Removing) -> Bool {
        if !victims.isEmpty, !directory.isInPlace { removing.giveUp() }
        let free = directory.freeBytes
        var gone: [Victim] = []
        var stuck: [Victim] = []
        var rest = victims[...]
        while !removing.isInVain, let victim = rest.popFirst() {
            do {
                try directory.remove(victim)
                gone.append(victim)
                removing.went(victim)
            } catch {
                // Of one that stayed before, the log knows.
                if stuck.isEmpty, !isKnownToStay(victim) {
                    directory.log(error, of: victim, logger)
                }
                stuck.append(victim)
                removing.stayed()
            }
        }
        // Their own unlinking fills the queue of changes.
        drainWatch()
        let othersMayGo = !removing.isInVain
        let missing = notReturned(gone, since: free)
        run { state, effects in
            state.space.notReturned(missing, until: .now + Self.openPatience)
            state.unlinked(gone, &effects)
            state.unlinkAborted(rest, &effects)
            state.unlinkFailed(stuck, othersCould: othersMayGo, &effects)
        }
        return gone.count == victims.count
    }

    /// Bytes of files just removed that are not free now, if that is most of them: somebody has these files
    /// open. Less may be what others write at the same time.
    private func notReturned(_ victims: [Victim], since before: Int64?) -> Int64 {
        guard !victims.isEmpty, let before, let after = directory.freeBytes else { return 0 }
        let bytes = victims.reduce(0) { $0 + $1.bytes }
        let returned = max(after - before, 0)
        return returned < bytes / 2 ? bytes - returned : 0
    }

    /// What could not be removed is tried again by the next eviction.
    func retryUnevictable() {
        run { state, _ in state.retryAllEvictions() }
    }

    /// A download asks for space before it writes. The transfers' thread calls this, and unlinks the victims
    /// itself, slice by slice.
    func reserve(
        for key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?
    ) throws(Failure) -> Int64 {
        measureIfDue()
        var removing = Removing()
        while !removing.isInVain {
            let answer = run {
                $0.spaceRequested(key, id, needed: needed, length: length, &$1)
            }
            let isComplete = answer.victims.isEmpty || remove(answer.victims, &removing)
            switch answer.grant {
            // Other files may be unlinked for those that could not be.
            case .granted(let bytes): if isComplete { return bytes }
            case .refused(let failure): throw failure
            case .evicting: break
            }
        }
        throw .cannotMakeRoom(directory.path)
    }

    /// The disk is full although the books had room: others were quicker, its inodes are spent, or a quota
    /// is. Removes who has to go for a download that needs so many bytes more; whether all of them went.
    /// Called by the thread that writes.
    func makeRoom(for key: CacheKey, _ bytes: Int64) -> Bool {
        // Who was used least recently is known once the directory is read. On a full disk that is worth a
        // stop of the thread that writes: it could do nothing else.
        waitForScan()
        var removing = Removing()
        while !removing.isInVain {
            let missing = bytes - removing.freed.bytes
            let search = run { $0.diskFilled(key, missing, &$1) }
            if search.victims.isEmpty, !search.isCutShort { return false }
            if remove(search.victims, &removing), !search.isCutShort { return true }
        }
        return false
    }

    /// The head of a response promises so many bytes; returns why they can't be taken, if they can't.
    /// Called by the transfers' thread before any of them arrives.
    func refusal(of key: CacheKey, _ id: FlightID, length: Int64) -> Failure? {
        measureIfDue()
        return run { state, _ in state.lengthPromised(key, id, length) }
    }

    /// Asks for the free bytes unless that was done just now: what the cache itself takes is in its books.
    private func measureIfDue() {
        let now = ContinuousClock.now
        if let last = measuredAt.withLock({ $0 }), now - last < Self.measuringPause { return }
        measure()
    }

    /// Asks the file system how much of it is free. Where it can't say, the last answer stands.
    func measure() {
        measuredAt.withLock { $0 = .now }
        guard let free = directory.freeBytes else { return }
        run { state, _ in state.measured(free: free) }
    }
}

extension Failure {
    static func cannotMakeRoom(_ path: String) -> Failure {
        Failure(
            .storage,
            "no room could be made in \(path): a file there can't be removed, the log says which")
    }
}

extension CacheDirectory {
    /// Bytes of the file system that an ordinary user may still fill; `nil` where it has no size. statfs(2).
    var freeBytes: Int64? {
        do {
            let facts = try kernel.fileSystem(of: descriptor)
            return facts.f_blocks > 0 ? facts.bytes(of: facts.f_bavail) : nil
        } catch {
            return nil
        }
    }

    /// What kind of file system it lies on; `nil` where that can't be told.
    var fileSystemType: FileSystemType? {
        do {
            return FileSystemType(try kernel.fileSystem(of: descriptor))
        } catch {
            return nil
        }
    }

    /// Limits with the defaults for this file system. With as much free as it has, nothing would ever be kept.
    func budget(_ limits: Limits) throws(CacheError) -> Budget {
        let size = try Self.attempt("measure the file system of", path) { () throws(Errno) in
            let facts = try kernel.fileSystem(of: descriptor)
            // Some have no size, as a tmpfs that may take all memory.
            return facts.f_blocks > 0 ? facts.bytes(of: facts.f_blocks) : .max
        }
        if let floor = limits.minimumFree, floor >= size {
            throw CacheError(
                .wrongLimit,
                "\(floor) bytes are to stay free (--min-free), and the file system of \(path) has \(size); "
                    + "choose fewer, or another directory")
        }
        return Budget(limits, fileSystem: size)
    }
}

extension statfs {
    /// Of so many blocks. A file system may state any number, one in user space what somebody likes.
    fileprivate func bytes(of blocks: fsblkcnt_t) -> Int64 {
        let (bytes, overflows) = Int64(clamping: blocks).multipliedReportingOverflow(
            by: Int64(f_frsize > 0 ? f_frsize : f_bsize))
        return overflows ? .max : bytes
    }
}
