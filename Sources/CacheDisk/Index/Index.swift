package import CacheKey
package import CacheValues

/// All entries, by key and in the order of their use, in three classes. Not safe for concurrent access: the owner of
/// the state holds the lock.
///
/// At any count, an entry takes 72 bytes at most: 68 for itself, 3.2 for the heads of the chains in which it is found
/// by its key and by its content, and some bits. The memory of evicted images, ``Ghosts``, takes four bytes more.
package struct Index: ~Copyable, Sendable {
    /// No entry. Marks the ends of the order of use and of chains, and the end of the free places.
    package static let none = UInt32.max
    /// Marks a place without an entry.
    static let free = UInt32.max - 1

    /// Entries never move. Free places are chained through `newer`.
    private var entries = Chunks<Entry>()
    /// The first free place.
    private var firstFree = Index.none
    private var byKey = Chains(.byKey, load: 1.5)
    /// The entries by digest or, if that is not known, by file. See `Index+Files.swift`.
    private var byContent = Chains(.byContent, load: 8)
    /// The measures of the few entries that have no room for them.
    private var large: [UInt32: Measures] = [:]
    /// The order of use of each class, see `Index+Use.swift`.
    var orders = UsageClass.allCases.map { _ in UseOrder() }

    /// The number of entries.
    package private(set) var count = 0
    /// The entries that were used since their access times were last written to their files.
    var touched = PlaceSet()
    /// The entries that the running scan has found.
    var scanned = PlaceSet()
    /// The sums over all files. A file with several names is counted once.
    package internal(set) var totals = FileTotals()
    private var ghosts = Ghosts()

    /// Bytes that the disk holds for all entries, attributes included.
    package var allocated: Int64 { totals.allocated }
    /// Pinned entries, and the bytes that the disk holds for them.
    package var pinned: Removal { totals.pinned }

    package init() {}

    // MARK: Finding

    /// The facts about the entry of a key. Asking is not counted as a use.
    package func facts(of key: CacheKey) -> EntryFacts? {
        place(of: key).map { facts(at: $0) }
    }

    package func contains(_ key: CacheKey) -> Bool {
        place(of: key) != nil
    }

    func place(of key: CacheKey) -> UInt32? {
        var place = byKey.first(Entry.hash(key))
        while place != Self.none, self[place].key != key { place = self[place].nextByKey }
        return place == Self.none ? nil : place
    }

    subscript(place: UInt32) -> Entry {
        unsafeAddress { UnsafePointer(entries.address(of: place)) }
        nonmutating unsafeMutableAddress { entries.address(of: place) }
    }

    func facts(at place: UInt32) -> EntryFacts { self[place].facts(measures(at: place)) }

    func measures(at place: UInt32) -> Measures {
        self[place].measures ?? large[place, default: Measures()]
    }

    mutating func setMeasures(_ measures: Measures, at place: UInt32) {
        let fits = self[place].setMeasures(measures)
        if !fits || !large.isEmpty { large[place] = fits ? nil : measures }
    }

    // MARK: Changing

    /// Inserts an entry as the most recently used of its class. It replaces any entry of the same key. If it was evicted
    /// before it was used, it counts as used now.
    package mutating func insert(_ key: CacheKey, _ facts: EntryFacts) {
        var facts = facts
        facts.hasReturned = ghosts.remove(key)
        linkNewest(add(key, facts))
    }

    /// Inserts an entry as the least recently used of its class.
    mutating func insertOldest(_ key: CacheKey, _ facts: EntryFacts) {
        linkOldest(add(key, facts))
    }

    /// Inserts a removed entry again, at its old position in the order of use.
    mutating func restore(_ key: CacheKey, _ facts: EntryFacts) {
        linkByTime(add(key, facts))
    }

    /// Updates the facts about an entry from its file, without counting that as a use. `false` if
    /// there is no entry. The time of use stays the same, because access times lag behind.
    package mutating func update(_ key: CacheKey, _ facts: EntryFacts) -> Bool {
        guard let place = place(of: key) else { return false }
        let old = self[place]
        var new = Entry(key, facts)
        (new.lastUsedAt, new.hasReturned) = (old.lastUsedAt, old.hasReturned)
        (new.older, new.newer, new.nextByKey) = (old.older, old.newer, old.nextByKey)
        if new.usageClass != old.usageClass { unlink(place) }
        detach(place)
        self[place] = new
        setMeasures(Measures(facts), at: place)
        attach(place)
        if new.usageClass != old.usageClass { linkByTime(place) }
        return true
    }

    /// Removes an entry. Returns its facts, or `nil` if there was none.
    @discardableResult
    package mutating func remove(_ key: CacheKey) -> EntryFacts? {
        guard let place = place(of: key) else { return nil }
        let facts = facts(at: place)
        unlink(place)
        detach(place)
        byKey.remove(place, in: entries)
        touched.remove(place)
        scanned.remove(place)
        if !large.isEmpty { large[place] = nil }
        (self[place].nextByKey, self[place].newer) = (Self.free, firstFree)
        firstFree = place
        count -= 1
        return facts
    }

    /// An eviction is about to remove an entry. If it was never used, it counts as used should it come back soon.
    package mutating func willEvict(_ key: CacheKey) {
        guard let place = place(of: key), self[place].usageClass == .unused else { return }
        ghosts.insert(key, beside: count)
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

    /// Adds an entry, which is in no order of use yet. It replaces any entry of the same key.
    private mutating func add(_ key: CacheKey, _ facts: EntryFacts) -> UInt32 {
        remove(key)
        let entry = Entry(key, facts)
        var place = firstFree
        if place == Self.none {
            place = entries.append(entry)
        } else {
            firstFree = self[place].newer
            self[place] = entry
        }
        setMeasures(Measures(facts), at: place)
        byKey.insert(place, in: entries)
        count += 1
        attach(place)
        return place
    }

    // MARK: Contents

    /// The first entry of the chain in which those with a content are.
    func first(ofContent hash: UInt32) -> UInt32 { byContent.first(hash) }

    /// An entry of which neither the digest nor the file is known is in no chain.
    mutating func enchain(_ place: UInt32) {
        if self[place].hash(.byContent) != 0 { byContent.insert(place, in: entries) }
    }

    mutating func unchain(_ place: UInt32) {
        if self[place].hash(.byContent) != 0 { byContent.remove(place, in: entries) }
    }
}

// MARK: Walking

extension Index {
    /// The number of entries that are read under one hold of the lock.
    private static let stretch = 4096

    /// The number of places that have ever held an entry.
    var placesUsed: UInt32 { entries.count }

    /// Reads the next part of all entries, in no particular order.
    ///
    /// `position` starts at 0 and moves forward. The result is `false` once the end is reached. An
    /// entry that exists during all the calls is read exactly once, even if others are added and
    /// removed between them, because entries never move.
    package func readStretch(
        _ position: inout Int, places: Int = stretch, _ body: (CacheKey, EntryFacts) -> Void
    ) -> Bool {
        readPlaces(&position, places) { body(self[$0].key, facts(at: $0)) }
    }

    /// Reads the times of the last uses in the same way.
    package func readUses(_ position: inout Int, _ body: (Use) -> Void) -> Bool {
        readPlaces(&position) {
            let time = FileTime(nanoseconds: self[$0].lastUsedAt)
            body(Use(time: time, key: self[$0].key))
        }
    }

    /// Reads the entries that the scan has not found in the same way.
    package func readUnscanned(_ position: inout Int, _ body: (CacheKey) -> Void) -> Bool {
        readPlaces(&position) { if !scanned.contains($0) { body(self[$0].key) } }
    }

    private func readPlaces(
        _ position: inout Int, _ places: Int = stretch, _ body: (UInt32) -> Void
    ) -> Bool {
        let end = min(position + places, Int(placesUsed))
        for place in UInt32(position)..<UInt32(end) where self[place].isOccupied { body(place) }
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
        precondition(byKey.count == count, "\(count) entries, but \(byKey.count) by key")
        var alike = 0
        forEachPlace { place in
            precondition(
                (self[place].measures == nil) == (large[place] != nil), "measures are lost")
            guard self[place].hash(.byContent) != 0 else { return }
            alike += 1
            var found = first(ofContent: self[place].hash(.byContent))
            while found != place, found != Self.none { found = self[found].nextByContent }
            precondition(found == place, "an entry is not found by its content")
        }
        precondition(alike == byContent.count, "the chains by content have other entries")
        checkFiles()
    }
}
