internal import CacheKey

/// What a download hears that asks for room.
enum SpaceGrant: Sendable {
    /// It may grow to so many bytes.
    case granted(upTo: Int64)
    case refused(Failure)
    /// To be asked again when ``Effect/resumeTransfer(_:)`` says so.
    case wait
    /// The same, which is said already: more has to go than is removed at a time.
    case again
}

/// The answer to a download that asks for room, and who has to go first. The thread that writes partials
/// removes these: so none of them is one that has begun anew.
struct SpaceAnswer: Sendable {
    let grant: SpaceGrant
    var victims: [Victim] = []
}

/// What is set aside, what is on its way out, and who waits.
struct SpaceLedger {
    /// Bytes set aside for downloads.
    var reserved: Int64 = 0
    /// Of these, the ones written already.
    var written: Int64 = 0
    /// Downloads that have room.
    var holding: Set<CacheKey> = []
    var holders: Int { holding.count }
    /// Bytes of files that are being removed.
    var condemned: Int64 = 0
    /// Entries whose files are being removed.
    var doomed: Set<CacheKey> = []
    /// Bytes the cache would hold if it had all the free space of the file system too.
    var reach = Int64.max
    /// Bytes of files that were removed and that the file system has not got back, as somebody has them open:
    /// to remove more for its free space would be in vain.
    var pendingFree: Int64 = 0
    /// The reach before they were removed.
    var reachBefore: Int64 = 0
    /// Until when that is taken for the reason.
    var isOwedUntil: ContinuousClock.Instant?
    /// The download that has room and lets no other one begin.
    var soloist: FlightID?
    /// Downloads that wait for room: who has some already, then the most urgent, then first come, first
    /// served.
    var waiting: [(key: CacheKey, id: FlightID)] = []
    /// An eviction down to the watermark is on its way.
    var isEvicting = false
    /// Until when fewer downloads run, because memory was short.
    var throttledUntil: ContinuousClock.Instant?
    /// What begins once the directory is read: only then is known how much there is, and what was used least
    /// recently.
    var postponed: [@Sendable () -> Void] = []
    /// What could not be removed when others could.
    var unevictable: Set<DirectoryName> = []
}

/// Room: set aside before bytes arrive, made by letting the least recently used go.
extension CacheState {
    /// Bytes the disk holds for entries and partials.
    var bytesUsed: Int64 { index.allocated + partials.total }

    /// Bytes held, promised, or not gone yet.
    var held: Int64 { bytesUsed + room.reserved + room.condemned }

    /// Bytes that may be held: the budget, or less where the floor of free space would be broken.
    var ceiling: Int64 {
        let (limit, overflows) = room.reach.subtractingReportingOverflow(budget.minimumFree)
        return min(budget.maximumBytes, overflows ? .max : max(limit, 0))
    }

    /// The file system was asked for its free bytes.
    mutating func measured(free: Int64) {
        let onDisk = bytesUsed + room.condemned + min(room.written, room.reserved)
        let (sum, overflows) = onDisk.addingReportingOverflow(free)
        let reach = overflows ? .max : sum
        room.pendingFree = min(room.pendingFree, max(0, room.reachBefore - reach))
        room.reach = reach + room.pendingFree
    }

    /// Files of so many bytes were removed that the file system has not got back.
    mutating func notReturned(_ bytes: Int64, until end: ContinuousClock.Instant) {
        guard bytes > 0 else { return }
        if room.pendingFree == 0 { (room.reachBefore, room.isOwedUntil) = (room.reach, end) }
        room.pendingFree += bytes
    }

    // MARK: Downloads

    /// A download asks for room before it writes.
    ///
    /// - Parameters:
    ///   - needed: bytes of image it is about to have.
    ///   - length: bytes it will have in all, where the origin said.
    mutating func roomAsked(
        _ key: CacheKey, _ id: FlightID, needed: Int64, length: Int64?
    ) -> (SpaceAnswer, [Effect]) {
        guard let flight = flights[key], flight.id == id else {
            return (SpaceAnswer(grant: .refused(.removed)), [])
        }
        let most = budget.maximumImageSize
        guard max(needed, length ?? 0) <= most else {
            return (SpaceAnswer(grant: .refused(.tooLarge(length, most))), [])
        }
        // Without a length a whole step is asked for, and the bare need where that is too much.
        let step = min(most, (needed + Budget.step - 1) / Budget.step * Budget.step)
        for bytes in [length ?? step, length ?? needed] {
            let more = Budget.allocation(for: bytes) - flight.reserved
            guard mayFit(key, flight, more) else { continue }
            return grant(key, flight, more, upTo: bytes)
        }
        counters.refused += 1
        return (SpaceAnswer(grant: .refused(noRoom(for: length ?? needed))), [])
    }

    /// The head of a response promises so many bytes: why an image of that size can't be taken at all, if
    /// so. Nothing is set aside yet.
    mutating func lengthPromised(
        _ key: CacheKey, _ id: FlightID, _ length: Int64
    ) -> Failure? {
        guard let flight = flights[key], flight.id == id else { return .removed }
        guard length <= budget.maximumImageSize else {
            return .tooLarge(length, budget.maximumImageSize)
        }
        let more = Budget.allocation(for: length) - flight.reserved
        guard !mayFit(key, flight, more) else { return nil }
        counters.refused += 1
        return noRoom(for: length)
    }

    /// Whether so many bytes more could be had if everything else but pinned entries ended or went.
    private func mayFit(_ key: CacheKey, _ flight: Flight, _ more: Int64) -> Bool {
        let isCounted = !isUnread
        let staying = immovable
        var bytes = flight.reserved + (isCounted ? staying.bytes : 0)
        // What it replaces stays until then.
        if let old = index.facts(of: key), !old.isPinned, !room.unevictable.contains(.entry(key)) {
            bytes += old.allocated
        }
        let limit = isCounted ? ceiling : budget.maximumBytes
        let hasPlace = isReplacing(key, flight) || staying.entries < budget.maximumEntries
        return bytes + more <= limit && hasPlace
    }

    /// Entries there will be with those that have room; what replaces an entry is none more. Counted one by
    /// one only where all together may be more than a limit.
    func entriesToCome(ifOver limit: Int) -> Int {
        let most = index.count + room.holders
        guard most > limit else { return most }
        return index.count + room.holding.count { !index.contains($0) }
    }

    /// Whether a download takes no place that is not taken already.
    private func isReplacing(_ key: CacheKey, _ flight: Flight) -> Bool {
        flight.hasRoom || index.contains(key)
    }

    private mutating func grant(
        _ key: CacheKey, _ flight: Flight, _ more: Int64, upTo bytes: Int64
    ) -> (SpaceAnswer, [Effect]) {
        guard isNext(flight) else {
            lineUp(key, flight)
            return (SpaceAnswer(grant: .wait), [])
        }
        let (search, suffice) = victims(for: more, key, flight)
        let victims = search.victims
        var effects: [Effect] = []
        for case .entry(let key) in victims.map(\.name) { effects += changed(key) }
        guard suffice else {
            if search.isCutShort {
                // Nobody may have meanwhile what went for this one.
                lineUp(key, flight)
                let answer = SpaceAnswer(grant: .again, victims: victims)
                return (answer, effects + [.resumeTransfer(flight.id)])
            }
            // What went in vain makes room for whoever asks next.
            let (grant, others) = waitForRoom(key, flight, upTo: bytes)
            return (SpaceAnswer(grant: grant, victims: victims), effects + others)
        }
        if !flight.hasRoom {
            room.holding.insert(key)
            if flight.needsAllRoom { room.soloist = flight.id }
            room.written += flight.received
            // Its own download begins by removing it, or goes on with it: the room is for the whole.
            partials[key] = nil
        }
        flights.update(key) { $0.reserved += more }
        room.reserved += more
        room.waiting.removeAll { $0.id == flight.id }
        if !victims.isEmpty { effects += evictToWatermark() }
        let answer = SpaceAnswer(grant: .granted(upTo: bytes), victims: victims)
        return (answer, effects + resumeNext())
    }

    /// Those who have room may have more; a newcomer waits behind those who wait already, unless it is more
    /// urgent.
    private func isNext(_ flight: Flight) -> Bool {
        guard !flight.hasRoom else { return true }
        guard room.soloist == nil, !flight.needsAllRoom || isAllGone else { return false }
        guard let first = room.waiting.first else { return true }
        return first.id == flight.id || goesBefore(first.key, flight)
    }

    /// Whether a newcomer has room before one that waits.
    private func goesBefore(_ waiting: CacheKey, _ newcomer: Flight) -> Bool {
        guard let other = flights[waiting] else { return true }
        return !other.hasRoom && urgency(of: other) < urgency(of: newcomer)
    }

    /// Nobody has room, and nothing is being removed that may be a download's own partial.
    private var isAllGone: Bool { room.holders == 0 && room.condemned == 0 }

    /// Who has to go for so many bytes more, and whether that suffices now.
    private mutating func victims(
        for more: Int64, _ key: CacheKey, _ flight: Flight
    ) -> (search: VictimSearch, suffice: Bool) {
        var bytes = held + more - ceiling - (flight.hasRoom ? 0 : partials[key] ?? 0)
        var entries = index.count - budget.maximumEntries
        if !isReplacing(key, flight) {
            entries = entriesToCome(ifOver: budget.maximumEntries - 1) + 1 - budget.maximumEntries
        }
        var search = VictimSearch()
        guard bytes > 0 || entries > 0 else { return (search, true) }
        // Which are the least recently used is known once the directory is read.
        let staying = immovable
        guard !isUnread,
            bytes <= index.allocated + partials.total - staying.bytes,
            entries <= index.count - staying.entries
        else { return (search, false) }
        while bytes > 0 || entries > 0, let victim = nextVictim(&search, for: flight, bytes) {
            search.victims.append(victim)
            bytes -= victim.bytes
            if case .entry = victim.name { entries -= 1 }
        }
        return (search, bytes <= 0 && entries <= 0)
    }

    /// Nothing can be had now. Waits for what is under way; where nothing is that could end without
    /// this download, it starts over behind those that wait too, or ends if there are none.
    private mutating func waitForRoom(
        _ key: CacheKey, _ flight: Flight, upTo bytes: Int64
    ) -> (SpaceGrant, [Effect]) {
        let waitingHolders = room.waiting.count { item in
            item.id != flight.id && flights[item.key]?.hasRoom == true
        }
        let others = room.holders - (flight.hasRoom ? 1 : 0) - waitingHolders
        if others > 0 || room.condemned > 0 || isUnread {
            lineUp(key, flight)
            return (.wait, [])
        }
        if waitingHolders > 0 { return startOver(key, flight) }
        counters.refused += 1
        return (.refused(noRoom(for: bytes)), [])
    }

    private mutating func lineUp(_ key: CacheKey, _ flight: Flight) {
        guard !room.waiting.contains(where: { $0.id == flight.id }) else { return }
        // Who has room already goes first: only its end gives room to others.
        let place = flight.hasRoom ? 0 : room.waiting.firstIndex { goesBefore($0.key, flight) }
        room.waiting.insert((key, flight.id), at: place ?? room.waiting.endIndex)
    }

    /// Downloads that have room wait for each other's. This one gives its own back and begins anew when
    /// it can have all it needs; its callers go on waiting.
    private mutating func startOver(
        _ key: CacheKey, _ flight: Flight
    ) -> (SpaceGrant, [Effect]) {
        let freed = replaceFlight(key, flight)
        flights[key]?.needsAllRoom = true
        // The transfer ends by this, as that of a flight which is no more; what it wrote takes the room
        // that the others wait for.
        let rest = condemn(partialOf: key).map { [Effect.unlink($0)] } ?? []
        return (.refused(.startsOver), rest + freed + changed(key))
    }

    /// Lets the first in the line ask again.
    mutating func resumeNext() -> [Effect] {
        room.waiting.first.map { [.resumeTransfer($0.id)] } ?? []
    }

    /// Takes a flight off the books. What it has written stays as a partial until somebody looks.
    mutating func endFlight(_ key: CacheKey) -> [Effect] {
        guard let flight = flights.removeValue(forKey: key) else { return [] }
        if flight.isDetached { holds.remove() }
        index.maybeUnspared(key)
        if flight.phase == .queued { leaveQueue(key, flight) }
        slots.stops(flight.id)
        prefetches.remove(key, flight.origin)
        return giveBackRoom(key, flight)
    }

    /// Gives back what a download had set aside, as it was before.
    mutating func giveBackRoom(_ key: CacheKey, _ flight: Flight) -> [Effect] {
        room.waiting.removeAll { $0.id == flight.id }
        guard flight.hasRoom else { return resumeNext() }
        room.holding.remove(key)
        if room.soloist == flight.id { room.soloist = nil }
        room.reserved -= flight.reserved
        room.written -= flight.received
        if flight.phase != .publishing {
            partials[key] = min(flight.reserved, Budget.allocation(for: flight.received))
        }
        partials.doubt(key)
        return resumeNext()
    }

    private func noRoom(for bytes: Int64) -> Failure {
        var reasons = ["no room for \(bytes) bytes: the cache may hold \(ceiling)"]
        if ceiling < budget.maximumBytes {
            reasons.append(
                "because \(budget.minimumFree) bytes of the file system stay free (--min-free)")
        } else {
            reasons.append("(--max-bytes)")
        }
        if index.pinned.entries >= budget.maximumEntries {
            reasons = ["no room: all \(budget.maximumEntries) entries (--max-entries) are pinned"]
        }
        if immovable != index.pinned {
            reasons.append(
                "and files that can't be removed take \(immovable.bytes - index.pinned.bytes) (the log "
                    + "says which)")
        }
        if index.pinned.entries > 0 {
            reasons.append("and pinned images take \(index.pinned.bytes); unpin or remove some")
        }
        return Failure(.noRoom, reasons.joined(separator: " "))
    }

    /// Checks the books; for tests.
    func checkRoom() {
        partials.checkInvariants()
        let flying = flights.values.filter(\.hasRoom)
        precondition(flying.count == room.holders, "\(room.holders) downloads have room")
        precondition(
            room.holding.allSatisfy { flights[$0]?.hasRoom == true },
            "others have room than are said to")
        precondition(flying.reduce(0) { $0 + $1.reserved } == room.reserved, "room is lost")
        precondition(flying.reduce(0) { $0 + $1.received } == room.written, "bytes are lost")
        precondition(
            room.soloist.map { id in flying.allSatisfy { $0.id == id || !$0.needsAllRoom } }
                ?? true,
            "two downloads have all the room")
        precondition(room.condemned >= 0, "more was removed than there was")
    }
}

extension Failure {
    static let startsOver = Failure(.noRoom, "others need the room now; it begins anew later")
}
