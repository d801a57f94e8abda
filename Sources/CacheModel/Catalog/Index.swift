package import CacheKey

/// All entries, by key and in the order of their use. Not safe for concurrent access: the owner of
/// the state holds the lock.
///
/// Entries live in chunks that never move, so growth never copies them. The table over the chunks
/// uses open addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithms L and R). Each slot of
/// the table holds 32 bits of the key and the place of the entry. The highest of those bits give
/// the slot's home position, so the table is nearly in key order and doubles in one sequential
/// pass. At a million entries, chunks, table and the chains of ``FileChains`` together take 89 to
/// 102 bytes an entry.
package struct Index: ~Copyable, @unchecked Sendable {
    // Unchecked: only this value owns its chunks and slots, and it never shares them.

    /// No entry. Marks the ends of the order of use, and the end of the free places.
    package static let none = UInt32.max

    /// Marks an entry that is not in a chain of ``FileChains``.
    static let unchained = UInt32.max - 1

    private static let chunkShift: UInt32 = 12
    private static let chunkSize = 1 << Int(chunkShift)

    private var chunks: [UnsafeMutablePointer<Entry>] = []
    /// Slots of the table: the key bits above, the place + 1 below. 0 is a free slot.
    private var slots: UnsafeMutableBufferPointer<UInt64>
    /// The number of bits by which key bits are shifted right to give the home slot.
    private var shift: UInt64 = 32 - 10
    /// The first free place. Free places are chained through `newer`.
    private var firstFree = Index.none
    /// The number of places that have ever held an entry.
    private var placesUsed: UInt32 = 0
    private var oldest = Index.none
    private var newest = Index.none
    /// The last entry that the search for victims skipped. All entries up to it are in ``passed``.
    /// `none` if the search begins at the oldest entry.
    private var lastPassed = Index.none
    private var passed = EvictionCursor()
    /// The number of neighbours in the order of use whose times of use contradict that order.
    private var inversions = 0

    /// The number of entries.
    package private(set) var count = 0
    /// The sums over all files. A file with several names is counted once.
    package internal(set) var totals = FileTotals()
    /// By digest and by file, see `Index+Files.swift`.
    var alikeChains = FileChains()
    var linkedChains = FileChains()

    /// Bytes that the disk holds for all entries, attributes included.
    package var allocated: Int64 { totals.allocated }
    /// Pinned entries, and the bytes that the disk holds for them.
    package var pinned: Removal { totals.pinned }

    package init() {
        slots = .allocate(capacity: 1 << 10)
        slots.initialize(repeating: 0)
    }

    deinit {
        slots.deallocate()
        for chunk in chunks { chunk.deallocate() }
    }

    // MARK: Finding

    /// The facts about the entry of a key. Asking is not counted as a use.
    package func facts(of key: CacheKey) -> EntryFacts? {
        guard let place = place(of: key) else { return nil }
        return self[place].facts
    }

    package func contains(_ key: CacheKey) -> Bool {
        place(of: key) != nil
    }

    func place(of key: CacheKey) -> UInt32? {
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

    subscript(place: UInt32) -> Entry {
        unsafeAddress {
            UnsafePointer(chunks[Int(place >> Self.chunkShift)] + Int(place) & (Self.chunkSize - 1))
        }
        nonmutating unsafeMutableAddress {
            chunks[Int(place >> Self.chunkShift)] + Int(place) & (Self.chunkSize - 1)
        }
    }

    /// 32 bits of the key. Keys are digests, so any of their bits are spread as evenly as hashed ones.
    private static func tag(_ key: CacheKey) -> UInt64 { key.high >> 32 }

    private func home(_ tag: UInt64) -> Int { Int(tag >> shift) }

    // MARK: Changing

    /// Inserts an entry as the most recently used. It replaces any entry of the same key.
    package mutating func insert(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        let place = place(for: Entry(key, facts))
        linkNewest(place)
    }

    /// Inserts an entry as the least recently used.
    package mutating func insertOldest(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        let place = place(for: Entry(key, facts))
        linkOldest(place)
    }

    /// Inserts a removed entry again, at its old position in the order of use.
    package mutating func restore(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        let place = place(for: Entry(key, facts))
        restartEviction()
        link(place, behind: lastUsed(before: place))
    }

    /// Updates the facts about an entry from its file, without counting that as a use. `false` if
    /// there is no entry. The time of use stays the same, because access times lag behind.
    package mutating func update(_ key: CacheKey, _ facts: EntryFacts) -> Bool {
        guard let place = place(of: key) else { return false }
        detach(place)
        let old = self[place]
        self[place] = Entry(key, facts)
        self[place].lastUsedAt = old.lastUsedAt
        self[place].isTouched = old.isTouched
        self[place].older = old.older
        self[place].newer = old.newer
        attach(place)
        if old.isPinned, !facts.isPinned { passed.returns(place) }
        return true
    }

    /// Removes an entry. Returns its facts, or `nil` if there was none.
    @discardableResult
    package mutating func remove(_ key: CacheKey) -> EntryFacts? {
        guard let place = place(of: key) else { return nil }
        let facts = self[place].facts
        unlink(place)
        removeSlot(of: place)
        detach(place)
        self[place].isOccupied = false
        self[place].newer = firstFree
        firstFree = place
        count -= 1
        return facts
    }

    /// Sets or clears the pin, which protects an entry from eviction. `false` if there is no entry.
    package mutating func setPinned(_ key: CacheKey, _ isPinned: Bool) -> Bool {
        guard let place = place(of: key) else { return false }
        changing(place) { $0[place].isPinned = isPinned }
        if !isPinned { passed.returns(place) }
        return true
    }

    // MARK: Use

    /// Makes an entry the most recently used.
    ///
    /// - Returns: the place of the entry, if this is its first use since ``takeTouch(at:)``.
    package mutating func touch(_ key: CacheKey, at time: FileTime) -> UInt32? {
        guard let place = place(of: key) else { return nil }
        defer { self[place].isTouched = true }
        unlink(place)
        self[place].lastUsedAt = time.nanoseconds
        linkNewest(place)
        return self[place].isTouched ? nil : place
    }

    /// Takes the last time of use of the entry at a place, to be written to its file. If another
    /// entry has got the place since its use was recorded, the result is about that entry.
    ///
    /// - Returns: `nil` if the file already has the time, or the place is free.
    package mutating func takeTouch(at place: UInt32) -> (key: CacheKey, time: FileTime)? {
        let entry = self[place]
        guard entry.isOccupied, entry.isTouched else { return nil }
        self[place].isTouched = false
        // The names of one file share its access time. It is that of the latest use.
        return (entry.key, FileTime(nanoseconds: lastUse(ofFileAt: place)))
    }

    /// Makes an entry the least recently used. A scan calls this from the most recently used entry
    /// to the least recently used one. An entry that was used after the time in its file keeps its
    /// position.
    package mutating func makeOldest(_ key: CacheKey, usedAt time: FileTime) {
        guard let place = place(of: key), self[place].lastUsedAt <= time.nanoseconds else { return }
        unlink(place)
        self[place].lastUsedAt = time.nanoseconds
        linkOldest(place)
    }

    // MARK: Victims

    /// The least recently used entry that is neither pinned nor spared by `isSpared`. `nil` if there
    /// is none, or if `steps` reached 0. A search does not look again at entries that it has
    /// skipped, so call ``maybeUnspared(_:)`` for an entry when a reason to spare it ends.
    ///
    /// - Parameter steps: the number of entries that can still be skipped. When it reaches 0 the
    ///   search stops, and the next search continues there.
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

    /// One reason to spare an entry has ended. The entry may still be spared for another reason.
    package mutating func maybeUnspared(_ key: CacheKey) {
        guard !passed.isEmpty, let place = place(of: key) else { return }
        passed.returns(place)
    }

    /// The next search for victims begins at the oldest entry, because any entry is perhaps no
    /// longer spared.
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
        attach(place)
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

    /// Frees the slot of a place and closes the gap behind it (algorithm R).
    private func removeSlot(of place: UInt32) {
        let mask = slots.count - 1
        var gap = home(Self.tag(self[place].key))
        while UInt32(truncatingIfNeeded: slots[gap]) != place + 1 { gap = (gap + 1) & mask }
        var next = (gap + 1) & mask
        while slots[next] != 0 {
            let home = home(slots[next] >> 32)
            // The slot can move if its home is not behind the gap: home … gap … next, in a circle.
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

    /// Links an entry as the next more recently used after `older`, or as the oldest if `older` is
    /// `none`.
    private mutating func link(_ place: UInt32, behind older: UInt32) {
        let newer = older == Self.none ? oldest : self[older].newer
        inversions -= inversion(of: older, and: newer)
        inversions += inversion(of: older, and: place)
        inversions += inversion(of: place, and: newer)
        self[place].older = older
        self[place].newer = newer
        if older != Self.none { self[older].newer = place } else { oldest = place }
        if newer != Self.none { self[newer].older = place } else { newest = place }
    }

    /// The most recently used of the entries that were used before an entry that is not linked, or
    /// `none`. The search runs from both ends and stops after 1024 steps; the entry then counts as
    /// the oldest.
    private func lastUsed(before place: UInt32) -> UInt32 {
        var (later, earlier) = (oldest, newest)
        for _ in 0..<1024 {
            if earlier == Self.none || inversion(of: earlier, and: place) == 0 {
                return earlier
            }
            if inversion(of: later, and: place) == 1 { return self[later].older }
            (later, earlier) = (self[later].newer, self[earlier].older)
        }
        return Self.none
    }

    private mutating func unlink(_ place: UInt32) {
        let entry = self[place]
        passed.forget(place)
        if place == lastPassed { lastPassed = entry.older }
        inversions += inversion(of: entry.older, and: entry.newer)
        inversions -= inversion(of: entry.older, and: place)
        inversions -= inversion(of: place, and: entry.newer)
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

    /// 1 if the time of the older neighbour is not before that of the newer one. 0 otherwise, and
    /// if either is `none`.
    private func inversion(of older: UInt32, and newer: UInt32) -> Int {
        guard older != Self.none, newer != Self.none else { return 0 }
        let (one, other) = (self[older].lastUsedAt, self[newer].lastUsedAt)
        return (one, self[older].key) < (other, self[newer].key) ? 0 : 1
    }
}

// MARK: Walking

extension Index {
    /// Whether the order of use agrees with the times of use and, for equal times, with the keys.
    /// It does not agree while a scan runs, or if a file has a time in the future.
    package var isInOrderOfTime: Bool { inversions == 0 }

    /// At most `limit` entries after the entry `cursor`, in the order of use. The most recently
    /// used entry comes first or, if `isReversed`, last.
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

    /// Reads the next part of all entries, in no particular order.
    ///
    /// `position` starts at 0 and moves forward. The result is `false` once the end is reached. An
    /// entry that exists during all the calls is read exactly once, even if others are added and
    /// removed between them, because entries never move.
    package func readStretch(
        _ position: inout Int, places: Int = chunkSize, _ body: (CacheKey, EntryFacts) -> Void
    ) -> Bool {
        let end = min(position + places, Int(placesUsed))
        for place in position..<end {
            let entry = self[UInt32(place)]
            if entry.isOccupied { body(entry.key, entry.facts) }
        }
        position = end
        return end < placesUsed
    }

    /// Calls `body` with the place of each entry, in no particular order.
    func forEachPlace(_ body: (UInt32) -> Void) {
        for place in 0..<placesUsed where self[place].isOccupied { body(place) }
    }

    /// Checks every invariant of the index. For tests, because it visits every entry.
    package func checkInvariants(isSpared: (CacheKey) -> Bool = { _ in true }) {
        var place = oldest
        var seen = 0
        var isPassed = lastPassed != Self.none
        var lastNumber: UInt64 = 0
        var previous = Self.none
        var inversions = 0
        while place != Self.none {
            precondition(self[place].older == previous, "the order of use is broken at \(place)")
            precondition(
                self.place(of: self[place].key) == place, "an entry is not found by its key")
            inversions += inversion(of: previous, and: place)
            seen += 1
            let note = passed.note(of: place)
            precondition(isPassed == (note != nil), "the cursor is wrong about \(place)")
            if let note {
                precondition(note.number > lastNumber, "the cursor is out of order at \(place)")
                precondition(
                    note.isReturned || self[place].isPinned || isSpared(self[place].key),
                    "a search would miss the victim at \(place)")
                lastNumber = note.number
            }
            isPassed = isPassed && place != lastPassed
            previous = place
            place = self[place].newer
        }
        precondition(previous == newest, "the newest entry is not at the end of the list")
        precondition(inversions == self.inversions, "inversions are miscounted")
        precondition(seen == count, "\(count) entries, but \(seen) in the order of use")
        checkFiles()
        precondition(
            slots.count(where: { $0 != 0 }) == count, "the slots are not as many as the entries")
    }
}
