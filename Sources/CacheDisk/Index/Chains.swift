/// A hash table of entries, whose chains run through them.
///
/// It grows by one head at a time, which divides one chain: linear hashing (Litwin, 1980; Knuth, TAOCP 3, 6.4). So no
/// insertion takes long, and the heads take four bytes for each ``load`` entries at any count. It never shrinks.
struct Chains: ~Copyable, Sendable {
    enum Kind {
        case byKey
        case byContent
    }

    private let kind: Kind
    /// The number of entries that come to a head.
    private let load: Double
    private var heads = Chunks<UInt32>()
    /// The bits of a hash that the number of a head has, or would have in a table of twice the size.
    private var mask: UInt32 = 0
    private(set) var count = 0

    init(_ kind: Kind, load: Double) {
        (self.kind, self.load) = (kind, load)
        heads.append(Index.none)
    }

    /// The first entry of the chain of a hash. The next ones follow in ``Entry``.
    func first(_ hash: UInt32) -> UInt32 { heads[head(of: hash)] }

    /// Makes an entry the first of its chain.
    mutating func insert(_ place: UInt32, in entries: borrowing Chunks<Entry>) {
        let head = head(of: entries[place].hash(kind))
        entries[place][next: kind] = heads[head]
        heads[head] = place
        count += 1
        if Double(count) > Double(heads.count) * load { addHead(entries) }
    }

    mutating func remove(_ place: UInt32, in entries: borrowing Chunks<Entry>) {
        let head = head(of: entries[place].hash(kind))
        let after = entries[place][next: kind]
        if heads[head] == place {
            heads[head] = after
        } else {
            var before = heads[head]
            while entries[before][next: kind] != place { before = entries[before][next: kind] }
            entries[before][next: kind] = after
        }
        count -= 1
    }

    private func head(of hash: UInt32) -> UInt32 {
        let number = hash & mask
        return number < heads.count ? number : number & (mask >> 1)
    }

    /// Divides the next chain. Both parts keep their order.
    private mutating func addHead(_ entries: borrowing Chunks<Entry>) {
        let new = heads.append(Index.none)
        if new > mask { mask = mask << 1 | 1 }
        let old = new & (mask >> 1)
        var (place, kept, moved) = (heads[old], Index.none, Index.none)
        (heads[old], heads[new]) = (Index.none, Index.none)
        while place != Index.none {
            let next = entries[place][next: kind]
            entries[place][next: kind] = Index.none
            if head(of: entries[place].hash(kind)) == new {
                append(place, to: new, behind: moved, entries)
                moved = place
            } else {
                append(place, to: old, behind: kept, entries)
                kept = place
            }
            place = next
        }
    }

    private func append(
        _ place: UInt32, to head: UInt32, behind last: UInt32, _ entries: borrowing Chunks<Entry>
    ) {
        if last == Index.none {
            heads[head] = place
        } else {
            entries[last][next: kind] = place
        }
    }
}
