/// The heads of a hash table whose chains run through the entries themselves.
///
/// At most two entries come to a head on average, so a head takes two to four bytes an entry.
struct FileChains {
    private var heads = [UInt32](repeating: Index.none, count: 16)
    private var shift: UInt32 = 32 - 4
    private(set) var count = 0

    /// Whether the chains have become long, so that ``grow()`` is due.
    var isFull: Bool { count >= heads.count * 2 }

    /// The first entry of the chain of a hash.
    subscript(hash: UInt32) -> UInt32 {
        get { heads[bucket(hash)] }
        set { heads[bucket(hash)] = newValue }
    }

    mutating func added() { count += 1 }

    mutating func removed() { count -= 1 }

    /// Doubles the heads. All chains are empty after that.
    mutating func grow() {
        shift -= 1
        count = 0
        heads = [UInt32](repeating: Index.none, count: heads.count * 2)
    }

    /// The highest bits of a product are spread evenly, even if the hashes follow each other. Knuth, TAOCP 3, 6.4
    private func bucket(_ hash: UInt32) -> Int { Int((hash &* 0x9E37_79B1) >> shift) }
}
