package import CacheKey

/// Every entry by key, and all of them in the order of their use. Not safe for concurrent access:
/// the lock is one level up.
///
/// Entries live in chunks that never move, so growing never copies them. The table over them is open
/// addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithms L and R): each slot holds 32 bits of
/// the key and the entry's place. A slot's home is the top of those bits, so the table is nearly in key
/// order and doubles in one sequential pass. Together 75 to 86 bytes an entry at a million.
package struct Index: ~Copyable, @unchecked Sendable {
    // Unchecked: chunks and slots are owned by this value alone, and lent to nobody.

    /// No entry: the end of the recency list, or a free slot.
    package static let none = UInt32.max

    private static let chunkShift: UInt32 = 12
    private static let chunkSize = 1 << Int(chunkShift)

    private var chunks: [UnsafeMutablePointer<Entry>] = []
    /// Slots of the table: key bits above, place + 1 below; 0 is free.
    private var slots: UnsafeMutableBufferPointer<UInt64>
    /// How far key bits are shifted to give a home slot.
    private var shift: UInt64 = 32 - 10
    /// First of the places given back, chained through `newer`.
    private var firstFree = Index.none
    /// Places ever handed out.
    private var placesUsed: UInt32 = 0
    private var oldest = Index.none
    private var newest = Index.none
    /// How far a search for victims came: up to this entry every one is in ``passed``; `none` begins at the
    /// oldest.
    private var lastPassed = Index.none
    private var passed = EvictionCursor()
    /// Neighbours in the order of use that stand the other way round by the times of their use.
    private var contradictions = 0

    /// Entries held.
    package private(set) var count = 0
    /// Bytes the disk holds for all entries, attributes included.
    package private(set) var allocated: Int64 = 0
    /// Pinned entries, and the bytes the disk holds for them.
    package private(set) var pinned = Removal()

    package init() {
        slots = .allocate(capacity: 1 << 10)
        slots.initialize(repeating: 0)
    }

    deinit {
        slots.deallocate()
        for chunk in chunks { chunk.deallocate() }
    }

    // MARK: Finding

    /// What is held under a key. Touches nothing.
    package func facts(of key: CacheKey) -> EntryFacts? {
        guard let place = place(of: key) else { return nil }
        return self[place].facts
    }

    package func contains(_ key: CacheKey) -> Bool {
        place(of: key) != nil
    }

    private func place(of key: CacheKey) -> UInt32? {
        let tag = Self.tag(key)
        var slot = home(tag)
        while slots[slot] != 0 {
            let value = slots[slot]
            let place = UInt32(truncatingIfNeeded: value) &- 1
            if value >> 32 == tag, self[place].key == key { return place }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    private subscript(place: UInt32) -> Entry {
        unsafeAddress {
            UnsafePointer(chunks[Int(place >> Self.chunkShift)] + Int(place) & (Self.chunkSize - 1))
        }
        nonmutating unsafeMutableAddress {
            chunks[Int(place >> Self.chunkShift)] + Int(place) & (Self.chunkSize - 1)
        }
    }

    /// 32 bits of the key; the keys are digests, so any are as good as hashed.
    private static func tag(_ key: CacheKey) -> UInt64 { key.high >> 32 }

    private func home(_ tag: UInt64) -> Int { Int(tag >> shift) }

    // MARK: Changing

    /// Takes in an entry as the most recently used, replacing what was held under its key.
    package mutating func insert(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        let place = place(for: Entry(key, facts))
        linkNewest(place)
    }

    /// Takes in an entry whose use lies further back than that of all others.
    package mutating func insertOldest(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        let place = place(for: Entry(key, facts))
        linkOldest(place)
    }

    /// Takes in an entry again that was forgotten, at the place in the order of use it had.
    package mutating func restore(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        let place = place(for: Entry(key, facts))
        restartEviction()
        link(place, behind: lastUsed(before: place))
    }

    /// Corrects what is held under a key to what its file shows, without counting that as a use;
    /// `false` if nothing is held. The time of use stays what it was: access times lag behind.
    package mutating func update(_ key: CacheKey, _ facts: EntryFacts) -> Bool {
        guard let place = place(of: key) else { return false }
        let old = self[place]
        book(old, -1)
        self[place] = Entry(key, facts)
        self[place].lastUsedAt = old.lastUsedAt
        self[place].isTouched = old.isTouched
        self[place].older = old.older
        self[place].newer = old.newer
        book(self[place], 1)
        if old.isPinned, !facts.isPinned { passed.returns(place) }
        return true
    }

    /// Forgets an entry; the facts it had, or `nil` if there was none.
    @discardableResult
    package mutating func remove(_ key: CacheKey) -> EntryFacts? {
        guard let place = place(of: key) else { return nil }
        let facts = self[place].facts
        unlink(place)
        removeSlot(of: place)
        book(self[place], -1)
        self[place].isDetached = false
        self[place].newer = firstFree
        firstFree = place
        count -= 1
        return facts
    }

    /// Adds an entry to the books, or takes it off.
    private mutating func book(_ entry: Entry, _ sign: Int) {
        let bytes = Int64(sign) * entry.allocated
        allocated += bytes
        if entry.isPinned { pinned = pinned + Removal(entries: sign, bytes: bytes) }
    }

    /// Keeps an entry from being chosen as a victim, or no longer; `false` if nothing is held.
    package mutating func setPinned(_ key: CacheKey, _ isPinned: Bool) -> Bool {
        guard let place = place(of: key) else { return false }
        book(self[place], -1)
        self[place].isPinned = isPinned
        book(self[place], 1)
        if !isPinned { passed.returns(place) }
        return true
    }

    // MARK: Use

    /// Makes an entry the most recently used; its place if that is news since ``takeTouch(at:)``.
    package mutating func touch(_ key: CacheKey, at time: FileTime) -> UInt32? {
        guard let place = place(of: key) else { return nil }
        defer { self[place].isTouched = true }
        unlink(place)
        self[place].lastUsedAt = time.nanoseconds
        linkNewest(place)
        return self[place].isTouched ? nil : place
    }

    /// When the entry at a place was used last, to be written to its file; `nil` if that is known there,
    /// or the place given back. One given to another entry meanwhile tells of that one's use.
    package mutating func takeTouch(at place: UInt32) -> (key: CacheKey, time: FileTime)? {
        let entry = self[place]
        guard entry.isDetached, entry.isTouched else { return nil }
        self[place].isTouched = false
        return (entry.key, FileTime(nanoseconds: entry.lastUsedAt))
    }

    /// Makes an entry the least recently used, as a scan does walking from recent to old; one that was
    /// used after the time its file showed keeps its place.
    package mutating func makeOldest(_ key: CacheKey, usedAt time: FileTime) {
        guard let place = place(of: key), self[place].lastUsedAt <= time.nanoseconds else { return }
        unlink(place)
        self[place].lastUsedAt = time.nanoseconds
        linkOldest(place)
    }

    // MARK: Victims

    /// The least recently used entry that is neither pinned nor spared by `isSpared`. What is spared no longer
    /// has to be said: ``maybeUnspared(_:)``.
    ///
    /// - Parameter steps: how many entries may be gone past; once none are left, the next search goes on from
    ///   there.
    package mutating func oldestUnpinned(
        steps: inout Int, unless isSpared: (CacheKey) -> Bool
    ) -> CacheKey? {
        while steps > 0, let place = passed.firstReturned {
            let entry = self[place]
            if !entry.isPinned, !isSpared(entry.key) { return entry.key }
            passed.firstReturnedStays()
            steps -= 1
        }
        var place = lastPassed == Self.none ? oldest : self[lastPassed].newer
        while steps > 0, place != Self.none {
            let entry = self[place]
            if !entry.isPinned, !isSpared(entry.key) { return entry.key }
            passed.pass(place)
            lastPassed = place
            place = entry.newer
            steps -= 1
        }
        return nil
    }

    /// What spared an entry is over, were it the only thing that did.
    package mutating func maybeUnspared(_ key: CacheKey) {
        guard !passed.isEmpty, let place = place(of: key) else { return }
        passed.returns(place)
    }

    /// The next search for victims begins at the oldest: any may be spared no longer.
    package mutating func restartEviction() {
        lastPassed = Self.none
        passed = EvictionCursor()
    }

    private mutating func place(for entry: Entry) -> UInt32 {
        if (count + 1) * 4 > slots.count * 3 { grow() }
        let place = freePlace()
        (chunks[Int(place >> Self.chunkShift)] + Int(place) & (Self.chunkSize - 1))
            .initialize(to: entry)
        insertSlot(Self.tag(entry.key) << 32 | UInt64(place + 1))
        count += 1
        book(entry, 1)
        return place
    }

    private mutating func freePlace() -> UInt32 {
        if firstFree != Self.none {
            defer { firstFree = self[firstFree].newer }
            return firstFree
        }
        if Int(placesUsed) == chunks.count * Self.chunkSize {
            chunks.append(.allocate(capacity: Self.chunkSize))
        }
        defer { placesUsed += 1 }
        return placesUsed
    }

    // MARK: The table

    private func insertSlot(_ value: UInt64) {
        var slot = home(value >> 32)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = value
    }

    /// Frees a place's slot and closes the gap behind it (algorithm R).
    private func removeSlot(of place: UInt32) {
        let mask = slots.count - 1
        var gap = home(Self.tag(self[place].key))
        while UInt32(truncatingIfNeeded: slots[gap]) != place + 1 { gap = (gap + 1) & mask }
        var next = (gap + 1) & mask
        while slots[next] != 0 {
            let home = home(slots[next] >> 32)
            // Movable if its home does not lie behind the gap: home … gap … next, in a circle.
            if (next - home) & mask >= (next - gap) & mask {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = 0
    }

    private mutating func grow() {
        let old = slots
        slots = .allocate(capacity: old.count * 2)
        slots.initialize(repeating: 0)
        shift -= 1
        for value in old where value != 0 { insertSlot(value) }
        old.deallocate()
    }

    // MARK: The order of use

    private mutating func linkNewest(_ place: UInt32) {
        link(place, behind: newest)
    }

    private mutating func linkOldest(_ place: UInt32) {
        restartEviction()
        link(place, behind: Self.none)
    }

    /// Puts an entry between another, or none, and the next more recently used one.
    private mutating func link(_ place: UInt32, behind older: UInt32) {
        let newer = older == Self.none ? oldest : self[older].newer
        contradictions -= contradiction(of: older, and: newer)
        contradictions += contradiction(of: older, and: place)
        contradictions += contradiction(of: place, and: newer)
        self[place].older = older
        self[place].newer = newer
        if older != Self.none { self[older].newer = place } else { oldest = place }
        if newer != Self.none { self[newer].older = place } else { newest = place }
    }

    /// The last one used before an entry that is not linked, or none; looked for from both ends. In the
    /// midst of very many it is taken for the oldest.
    private func lastUsed(before place: UInt32) -> UInt32 {
        var (later, earlier) = (oldest, newest)
        for _ in 0..<1024 {
            if earlier == Self.none || contradiction(of: earlier, and: place) == 0 {
                return earlier
            }
            if contradiction(of: later, and: place) == 1 { return self[later].older }
            (later, earlier) = (self[later].newer, self[earlier].older)
        }
        return Self.none
    }

    private mutating func unlink(_ place: UInt32) {
        let entry = self[place]
        passed.forget(place)
        if place == lastPassed { lastPassed = entry.older }
        contradictions += contradiction(of: entry.older, and: entry.newer)
        contradictions -= contradiction(of: entry.older, and: place)
        contradictions -= contradiction(of: place, and: entry.newer)
        if entry.older != Self.none {
            self[entry.older].newer = entry.newer
        } else {
            oldest = entry.newer
        }
        if entry.newer != Self.none {
            self[entry.newer].older = entry.older
        } else {
            newest = entry.older
        }
    }

    /// 1 where the time of the older of two neighbours is not before that of the newer; 0 otherwise, and
    /// where one of them is none.
    private func contradiction(of older: UInt32, and newer: UInt32) -> Int {
        guard older != Self.none, newer != Self.none else { return 0 }
        let (one, other) = (self[older].lastUsedAt, self[newer].lastUsedAt)
        return (one, self[older].key) < (other, self[newer].key) ? 0 : 1
    }
}

// MARK: Walking

extension Index {
    /// Whether the order of use is that of the times of use, and of the keys where these are the same. It
    /// is not while a scan runs, nor where files tell of a time that is yet to come.
    package var isInOrderOfTime: Bool { contradictions == 0 }

    /// At most `limit` entries, the most recently used first or, reversed, last; behind the entry `cursor`.
    package func inOrderOfUse(
        isReversed: Bool = false, after cursor: CacheKey? = nil, limit: Int = .max
    ) -> [ListedEntry] {
        var place = isReversed ? oldest : newest
        if let cursor {
            guard let at = self.place(of: cursor) else { return [] }
            place = isReversed ? self[at].newer : self[at].older
        }
        var entries: [ListedEntry] = []
        while place != Self.none, entries.count < limit {
            let entry = self[place]
            entries.append(ListedEntry(key: entry.key, facts: entry.facts))
            place = isReversed ? entry.newer : entry.older
        }
        return entries
    }

    /// One stretch of all entries in no particular order, to be read piece by piece: `position` starts
    /// at 0 and moves on; `false` once the end is reached. An entry that is held all the while is met
    /// once, whatever comes and goes between the pieces: entries never move.
    package func readStretch(
        _ position: inout Int, places: Int = chunkSize, _ body: (CacheKey, EntryFacts) -> Void
    ) -> Bool {
        let end = min(position + places, Int(placesUsed))
        for place in position..<end {
            let entry = self[UInt32(place)]
            if entry.isDetached { body(entry.key, entry.facts) }
        }
        position = end
        return end < placesUsed
    }

    /// Checks everything that must always hold; for tests, as it walks through all entries.
    package func checkInvariants(isSpared: (CacheKey) -> Bool = { _ in true }) {
        var place = oldest
        var seen = 0
        var bytes: Int64 = 0
        var pinned = Removal()
        var isPassed = lastPassed != Self.none
        var lastNumber: UInt64 = 0
        var previous = Self.none
        var contradictions = 0
        while place != Self.none {
            precondition(self[place].older == previous, "the list of use is broken at \(place)")
            precondition(self.place(of: self[place].key) == place, "an entry can't be found")
            contradictions += contradiction(of: previous, and: place)
            seen += 1
            bytes += self[place].allocated
            if self[place].isPinned {
                pinned = pinned + Removal(entries: 1, bytes: self[place].allocated)
            }
            let note = passed.note(of: place)
            precondition(isPassed == (note != nil), "\(place) was not passed, or not noted")
            if let note {
                precondition(note.number > lastNumber, "passed in another order at \(place)")
                precondition(
                    note.isReturned || self[place].isPinned || isSpared(self[place].key),
                    "a victim would be missed")
                lastNumber = note.number
            }
            isPassed = isPassed && place != lastPassed
            previous = place
            place = self[place].newer
        }
        precondition(previous == newest, "the newest entry is not at the end of the list")
        precondition(contradictions == self.contradictions, "times contradict the order uncounted")
        precondition(seen == count, "\(count) entries, but \(seen) in the order of use")
        precondition(pinned == self.pinned, "\(self.pinned) pinned on the books, \(pinned) found")
        precondition(bytes == allocated, "\(allocated) bytes on the books, \(bytes) in entries")
        precondition(slots.count(where: { $0 != 0 }) == count, "slots and entries differ")
    }
}
