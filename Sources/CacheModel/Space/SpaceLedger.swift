package import CacheKey

/// The bytes of the disk: what the limits allow, what is reserved for downloads, what is about to be free.
/// The bytes of entries are the catalog's; they come in as ``Usage``.
///
/// Invariant: no reservation is granted beyond the ceiling, so that used + reserved + pending unlink stays
/// at or below it until the ceiling itself moves.
package struct SpaceLedger: Sendable {
    /// What the catalog holds.
    package struct Usage: Sendable {
        var entries = 0
        /// Bytes the disk holds for them.
        var bytes: Int64 = 0
    }

    package var budget: Budget
    package var partials = Partials()
    /// Bytes reserved for downloads.
    package private(set) var reserved: Int64 = 0
    /// Bytes of these that are written already.
    package private(set) var written: Int64 = 0
    /// Downloads that have a reservation.
    package private(set) var holders: Set<CacheKey> = []
    /// Bytes of files that are being unlinked.
    package private(set) var pendingUnlink: Int64 = 0
    /// Entries whose files are being unlinked.
    package private(set) var unlinking: Set<CacheKey> = []
    /// Entries whose files could not be unlinked at the last attempt.
    package private(set) var unlinkFailed: Set<CacheKey> = []
    /// Files that could not be unlinked when others could: evictions skip them.
    package private(set) var unevictable: Set<DirectoryName> = []
    /// An eviction down to the watermark is under way.
    package var isEvicting = false
    /// Work that begins once the directory is read: only then the bytes in it are known, and what was used
    /// least recently.
    package var postponed: [@Sendable () -> Void] = []
    /// Bytes the cache would hold if it had all the free space of the file system as well.
    private var diskCapacity = Int64.max
    private var pendingFree = PendingFree()
    /// Downloads that may start while space is short: one for each release and each grant. `nil` while space
    /// is not short.
    private var startsLeft: Int?

    /// Bytes of unlinked files that the file system has not got back, because somebody has them open. To
    /// unlink more files for its free space would be useless.
    private struct PendingFree: Sendable {
        var bytes: Int64 = 0
        /// The capacity before they were unlinked.
        var capacityBefore: Int64 = 0
        /// Until when open files are taken for the reason.
        var end: ContinuousClock.Instant?
    }

    package init(budget: Budget) { self.budget = budget }

    // MARK: Figures

    /// Bytes the disk holds for entries and partials.
    package func used(_ usage: Usage) -> Int64 { usage.bytes + partials.total }

    /// Bytes used or reserved.
    package func promised(_ usage: Usage) -> Int64 { used(usage) + reserved }

    /// Bytes used, reserved, or not free yet.
    package func held(_ usage: Usage) -> Int64 { promised(usage) + pendingUnlink }

    /// Bytes that may be held: the budget, or less if the file system would have too little free.
    package var ceiling: Int64 {
        let (limit, overflows) = diskCapacity.subtractingReportingOverflow(budget.minimumFree)
        return min(budget.maximumBytes, overflows ? .max : max(limit, 0))
    }

    /// The goal of an eviction that keeps a tenth free. Partials are not evicted by it, and are no reason
    /// to evict more of the rest.
    package var watermark: Int64 {
        let partials = min(partials.total, ceiling)
        return partials + Budget.watermark(ceiling - partials)
    }

    // MARK: The file system

    /// The file system was asked for its free bytes.
    package mutating func measured(free: Int64, _ usage: Usage) {
        let onDisk = used(usage) + pendingUnlink + min(written, reserved)
        let (sum, overflows) = onDisk.addingReportingOverflow(free)
        let capacity = overflows ? .max : sum
        pendingFree.bytes = min(pendingFree.bytes, max(0, pendingFree.capacityBefore - capacity))
        diskCapacity = capacity + pendingFree.bytes
    }

    /// Files of so many bytes were unlinked, and the file system has not got them back.
    package mutating func notReturned(_ bytes: Int64, until end: ContinuousClock.Instant) {
        guard bytes > 0 else { return }
        if pendingFree.bytes == 0 {
            (pendingFree.capacityBefore, pendingFree.end) = (diskCapacity, end)
        }
        pendingFree.bytes += bytes
    }

    package mutating func timePassed(now: ContinuousClock.Instant) {
        if let end = pendingFree.end, end <= now { pendingFree = PendingFree() }
    }

    /// The directory may be on another file system now.
    package mutating func directoryReplaced() {
        (diskCapacity, pendingFree) = (.max, PendingFree())
    }

    // MARK: Reservations

    /// Reserves space for a download, more if it has some already.
    ///
    /// - Parameter received: bytes of it that are on the disk.
    package mutating func reserve(_ bytes: Int64, for key: CacheKey, received: Int64) {
        if holders.insert(key).inserted {
            written += received
            // Its download removes the old partial, or continues it: the reservation is for the whole.
            partials[key] = nil
        }
        reserved += bytes
        startsLeft? += 1
    }

    /// A download that has a reservation wrote more, or starts over with less.
    package mutating func wrote(_ bytes: Int64) { written += bytes }

    /// Gives a reservation back.
    ///
    /// - Parameter leavesPartial: whether what it wrote may stay as a partial.
    package mutating func release(
        _ key: CacheKey, reserved bytes: Int64, received: Int64, leavesPartial: Bool
    ) {
        guard holders.remove(key) != nil else { return }
        reserved -= bytes
        written -= received
        if leavesPartial { partials[key] = min(bytes, Budget.allocation(for: received)) }
        partials.becameDirty(key)
    }

    // MARK: Shortage

    /// Whether another download may start. While space is short each would only learn that from the head of
    /// its response.
    package var mayStart: Bool { startsLeft != 0 }

    /// Whether a download had to wait for space.
    package var isShort: Bool { startsLeft != nil }

    package mutating func started() { startsLeft? -= 1 }

    /// A download has to wait for the space of others.
    package mutating func becameShort() { startsLeft = 0 }

    /// Some space may be free now, or a download that had started is over.
    package mutating func released() {
        guard let starts = startsLeft else { return }
        startsLeft = holders.isEmpty && pendingUnlink == 0 ? nil : starts + 1
    }

    // MARK: Unlinking

    /// The partial has to be unlinked; `nil` if there is none.
    package mutating func unlinkPending(partialOf key: CacheKey) -> Victim? {
        guard let bytes = partials[key] else { return nil }
        partials[key] = nil
        pendingUnlink += bytes
        return Victim(name: .partial(key), bytes: bytes)
    }

    /// The file of an entry has to be unlinked, which has left the index.
    ///
    /// - Parameter facts: what the index knew; `nil` for a file that was never in it.
    package mutating func unlinkPending(
        _ key: CacheKey, _ bytes: Int64, facts: EntryFacts? = nil
    ) -> Victim {
        pendingUnlink += bytes
        unlinking.insert(key)
        return Victim(name: .entry(key), bytes: bytes, facts: facts)
    }

    /// The unlinks of these victims are over, whether they succeeded or not.
    package mutating func unlinkEnded(_ victims: some Sequence<Victim>) {
        for victim in victims {
            pendingUnlink -= victim.bytes
            if case .entry(let key) = victim.name { unlinking.remove(key) }
        }
    }

    /// This file could not be unlinked.
    ///
    /// - Parameter othersCould: whether other files could be. Then evictions skip this one until it changes,
    ///   somebody asks for an eviction, or an hour has passed.
    package mutating func unlinkFailed(_ victim: Victim, othersCould: Bool) {
        if case .entry(let key) = victim.name { unlinkFailed.insert(key) }
        if othersCould { unevictable.insert(victim.name) }
    }

    /// The file may be unlinkable now; whether evictions skipped it.
    package mutating func retryEviction(of name: DirectoryName) -> Bool {
        if case .entry(let key) = name { unlinkFailed.remove(key) }
        return unevictable.remove(name) != nil
    }

    /// All files are tried again; whether evictions skipped any.
    package mutating func retryAllEvictions() -> Bool {
        unlinkFailed = []
        defer { unevictable = [] }
        return !unevictable.isEmpty
    }

    package func checkInvariants() {
        partials.checkInvariants()
        precondition(pendingUnlink >= 0, "more was unlinked than there was")
        precondition(reserved >= 0, "more was released than was reserved")
    }
}
