package import CacheKey
package import CacheValues

/// The accounts of disk space: the bytes that the limits allow, the bytes reserved for downloads,
/// and the bytes about to become free. The index counts the bytes of entries.
///
/// Invariant: no reservation is granted beyond the ceiling, so used + reserved + pending unlink
/// stays at or below the ceiling until the ceiling itself moves.
package struct SpaceLedger: Sendable {
    /// The bytes of one download.
    package struct Reservation: Sendable {
        var reserved: Int64
        /// Bytes of its image that are on the disk already.
        var written: Int64
    }

    package internal(set) var budget: Budget
    package internal(set) var partials = SideFiles()
    /// Bytes reserved for downloads.
    package private(set) var reserved: Int64 = 0
    /// Bytes of the reservations that are already written.
    package private(set) var written: Int64 = 0
    /// The downloads that have a reservation.
    package private(set) var reservations: [CacheKey: Reservation] = [:]
    /// Bytes of files that are being unlinked.
    package private(set) var pendingUnlink: Int64 = 0
    /// Entries whose files are being unlinked.
    package private(set) var unlinking: Set<CacheKey> = []
    /// Entries whose files could not be unlinked at the last attempt.
    package private(set) var unlinkFailed: Set<CacheKey> = []
    /// Files that could not be unlinked although other files could. Evictions skip them.
    package private(set) var unevictable: Set<DirectoryName> = []
    /// Whether an eviction down to the watermark is running.
    var isEvicting = false
    /// Work that begins once the directory has been read. Until then its bytes and the least
    /// recently used entries are unknown.
    var postponed: [@Sendable () -> Void] = []
    /// Bytes that the cache would hold if it also had all the free space of the file system.
    private var diskCapacity = Int64.max
    /// The number of downloads that can start while space is short. `nil` while space is not short.
    private var startsLeft: Int?

    init(budget: Budget) { self.budget = budget }

    // MARK: Limits

    /// The maximum number of bytes that can be held: the budget, or less if the file system would
    /// have too little free space.
    package var ceiling: Int64 {
        let (limit, overflows) = diskCapacity.subtractingReportingOverflow(budget.minimumFree)
        return min(budget.maximumBytes, overflows ? .max : max(limit, 0))
    }

    /// Whether the free space of the file system, rather than the budget, limits what can be held.
    package var isShortOfDisk: Bool { ceiling < budget.maximumBytes }

    /// The goal of an eviction that keeps a tenth free. Such an eviction does not remove partials,
    /// so their bytes do not cause more entries to be evicted.
    var watermark: Int64 {
        let partials = min(partials.total, ceiling)
        return partials + Budget.watermark(ceiling - partials)
    }

    // MARK: The file system

    /// Records a measurement of the file system's free bytes. Unlinked files that a program has open are not free, so
    /// they count like the files of other programs.
    ///
    /// - Parameter used: bytes that the disk holds for entries and partials.
    mutating func measured(free: Int64, used: Int64) {
        let onDisk = used + pendingUnlink + min(written, reserved)
        let (sum, overflows) = onDisk.addingReportingOverflow(free)
        diskCapacity = overflows ? .max : sum
    }

    /// The directory may now be on another file system.
    mutating func directoryReplaced() { diskCapacity = .max }

    // MARK: Reservations

    /// Reserves space for a download, in addition to any that it already has.
    ///
    /// - Parameter received: bytes of the image that are already on the disk.
    mutating func reserve(_ bytes: Int64, for key: CacheKey, received: Int64) {
        if let place = reservations.index(forKey: key) {
            reservations.values[place].reserved += bytes
        } else {
            reservations[key] = Reservation(reserved: bytes, written: received)
            written += received
            // The download removes or continues the old partial, so the reservation covers the
            // whole image.
            partials[key] = nil
        }
        reserved += bytes
    }

    /// Whether a download has a reservation, so that it writes its partial or is about to.
    package func holds(_ key: CacheKey) -> Bool { reservations.index(forKey: key) != nil }

    /// Whether other downloads have one.
    func isHeldByOthers(than key: CacheKey) -> Bool {
        reservations.count > (holds(key) ? 1 : 0)
    }

    /// Bytes reserved for a download.
    func reserved(for key: CacheKey) -> Int64 { reservations[key]?.reserved ?? 0 }

    /// A download wrote more, or starts over with fewer bytes. Does nothing without a reservation.
    package mutating func wrote(_ key: CacheKey, _ received: Int64) {
        guard let place = reservations.index(forKey: key) else { return }
        written += received - reservations.values[place].written
        reservations.values[place].written = received
    }

    /// A download ends, or begins again: its reservation is over, if it has one.
    ///
    /// - Parameter leavesPartial: whether the bytes it wrote may stay as a partial. They do not if they became an
    ///   entry, or were lost as one.
    package mutating func release(_ key: CacheKey, leavesPartial: Bool) {
        guard let ended = reservations.removeValue(forKey: key) else { return }
        reserved -= ended.reserved
        written -= ended.written
        if leavesPartial {
            partials[key] = min(ended.reserved, Budget.allocation(for: ended.written))
        }
        partials.becameDirty(key)
    }

    // MARK: Shortage

    /// Whether another download can start. While space is short, a further download would have to
    /// wait as soon as it has the head of its response.
    package var mayStart: Bool { startsLeft != 0 }

    /// Whether a download had to wait for space.
    package var isShort: Bool { startsLeft != nil }

    /// A download starts.
    package mutating func started() { startsLeft? -= 1 }

    /// A download has to wait for space that other downloads hold.
    package mutating func becameShort() { startsLeft = 0 }

    /// Some space may have become free, a download that had started has ended, or one has all the space that it needs.
    ///
    /// - Parameter isWaitedFor: whether any download waits.
    /// - Returns: whether space was short, so that one more download can start now.
    package mutating func becameFree(isWaitedFor: Bool) -> Bool {
        defer { startsLeft = isWaitedFor ? startsLeft.map { $0 + 1 } : nil }
        return isShort
    }

    // MARK: Unlinking

    /// A partial has to be unlinked. `nil` if there is none.
    mutating func unlinkPending(partialOf key: CacheKey) -> Victim? {
        guard let bytes = partials[key] else { return nil }
        partials[key] = nil
        pendingUnlink += bytes
        return Victim(name: .partial(key), bytes: bytes)
    }

    /// The file of an entry that has left the index has to be unlinked.
    ///
    /// - Parameter facts: the facts that the index had. `nil` for a file that was never in the index.
    mutating func unlinkPending(
        _ key: CacheKey, _ bytes: Int64, facts: EntryFacts? = nil
    ) -> Victim {
        pendingUnlink += bytes
        unlinking.insert(key)
        return Victim(name: .entry(key), bytes: bytes, facts: facts)
    }

    /// The unlinks of these victims have ended, successfully or not.
    mutating func unlinkEnded(_ victims: some Sequence<Victim>) {
        for victim in victims {
            pendingUnlink -= victim.bytes
            if case .entry(let key) = victim.name { unlinking.remove(key) }
        }
    }

    /// This file could not be unlinked.
    ///
    /// - Parameter othersCould: whether other files could be unlinked. If so, evictions skip this
    ///   one until it changes, a user requests an eviction, or an hour has passed.
    package mutating func unlinkFailed(_ victim: Victim, othersCould: Bool) {
        if case .entry(let key) = victim.name { unlinkFailed.insert(key) }
        if othersCould { unevictable.insert(victim.name) }
    }

    /// The eviction that the cache itself began was given up.
    package mutating func evictionGivenUp() { isEvicting = false }

    /// This file can perhaps be unlinked now, so evictions try it again.
    package mutating func retryEviction(of name: DirectoryName) {
        if case .entry(let key) = name { unlinkFailed.remove(key) }
        unevictable.remove(name)
    }

    /// Every file can perhaps be unlinked now, so evictions try them all again.
    package mutating func retryAllEvictions() { (unlinkFailed, unevictable) = ([], []) }

    package func checkInvariants() {
        partials.checkInvariants()
        precondition(pendingUnlink >= 0, "more bytes were unlinked than were pending")
        let sum = reservations.values.reduce(0) { $0 + $1.reserved }
        precondition(reserved == sum, "\(reserved) bytes are counted as reserved, \(sum) are")
    }
}
