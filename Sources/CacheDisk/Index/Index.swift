package import CacheKey
package import CacheValues

/// All entries, by key and in the order of their use, in three classes. Not safe for concurrent access: the owner of
/// the state holds the lock.
///
/// Entries live in chunks that never move, so growth never copies them. The table over the chunks
/// uses open addressing with linear probing (Knuth, TAOCP 3, 6.4, algorithms L and R). Each slot of
/// the table holds 32 bits of the key and the place of the entry. The highest of those bits give
/// the slot's home position, so the table is nearly in key order and doubles in one sequential
/// pass. At a million entries, chunks, table and the chains of ``FileChains`` together take 85 to
/// 96 bytes an entry.
package struct Index: ~Copyable, @unchecked Sendable {
    // Unchecked: only this value owns its chunks and slots, and it never shares them.

    /// No entry. Marks the ends of the order of use, and the end of the free places.
    package static let none = UInt32.max

    /// Marks an entry that is in no chain of ``FileChains``.
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
    private(set) var placesUsed: UInt32 = 0
    /// The order of use of each class, see `Index+Use.swift`.
    var orders = UsageClass.allCases.map { _ in UseOrder() }

    /// The number of entries.
    package private(set) var count = 0
    /// The entries that were used since their access times were last written to their files.
    var touched = PlaceSet()
    /// The sums over all files. A file with several names is counted once.
    package internal(set) var totals = FileTotals()
    /// The chains of the files by digest, see `Index+Files.swift`.
    var chains = FileChains()
    /// The places of the entries whose files have several links, by ``Entry/file``.
    var linkedPlaces: [UInt32: [UInt32]] = [:]

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

    /// Inserts an entry as the most recently used of its class. It replaces any entry of the same key.
    package mutating func insert(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        let place = place(for: Entry(key, facts))
        linkNewest(place)
    }

    /// Inserts an entry as the least recently used of its class.
    mutating func insertOldest(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        let place = place(for: Entry(key, facts))
        linkOldest(place)
    }

    /// Inserts a removed entry again, at its old position in the order of use.
    mutating func restore(_ key: CacheKey, _ facts: EntryFacts) {
        remove(key)
        linkByTime(place(for: Entry(key, facts)))
    }

    /// Updates the facts about an entry from its file, without counting that as a use. `false` if
    /// there is no entry. The time of use stays the same, because access times lag behind.
    package mutating func update(_ key: CacheKey, _ facts: EntryFacts) -> Bool {
        guard let place = place(of: key) else { return false }
        let old = self[place]
        var new = Entry(key, facts)
        new.lastUsedAt = old.lastUsedAt
        (new.older, new.newer) = (old.older, old.newer)
        if new.usageClass != old.usageClass { unlink(place) }
        detach(place)
        self[place] = new
        attach(place)
        if new.usageClass != old.usageClass { linkByTime(place) }
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
        touched.remove(place)
        self[place].isOccupied = false
        self[place].newer = firstFree
        firstFree = place
        count -= 1
        return facts
    }

    /// Sets or clears the pin, which protects an entry from eviction. `false` if there is no entry.
    package mutating func setPinned(_ key: CacheKey, _ isPinned: Bool) -> Bool {
        guard let place = place(of: key) else { return false }
        guard self[place].isPinned != isPinned else { return true }
        unlink(place)
        changing(place) { $0[place].isPinned = isPinned }
        linkByTime(place)
        return true
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
}

// MARK: Walking

extension Index {
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
    package func checkInvariants() {
        let seen = UsageClass.allCases.reduce(0) { $0 + checkOrder(of: $1) }
        precondition(seen == count, "\(count) entries, but \(seen) in the order of use")
        checkFiles()
        precondition(
            slots.count(where: { $0 != 0 }) == count, "the slots are not as many as the entries")
    }
}
