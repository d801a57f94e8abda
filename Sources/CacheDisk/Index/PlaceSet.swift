/// A set of places in the index, with a bit for each place up to the highest that was ever in it.
struct PlaceSet {
    private var words: [UInt64] = []
    private(set) var count = 0
    /// ``popNext()`` looks at this place first.
    private var next: UInt32 = 0

    func contains(_ place: UInt32) -> Bool {
        let (word, bit) = Self.position(place)
        return word < words.count && words[word] & bit != 0
    }

    mutating func insert(_ place: UInt32) {
        guard !contains(place) else { return }
        let (word, bit) = Self.position(place)
        while words.count <= word { words.append(0) }
        words[word] |= bit
        count += 1
    }

    mutating func remove(_ place: UInt32) {
        guard contains(place) else { return }
        let (word, bit) = Self.position(place)
        words[word] &= ~bit
        count -= 1
    }

    /// Removes a place and returns it. The calls go round, so that no place waits for ever.
    mutating func popNext() -> UInt32? {
        guard count > 0 else { return nil }
        var (word, first) = Self.position(next)
        // The bits of this place and of those after it.
        var bits = words[word] & ~(first - 1)
        while bits == 0 {
            word = (word + 1) % words.count
            bits = words[word]
        }
        let place = UInt32(word * 64 + bits.trailingZeroBitCount)
        remove(place)
        next = (place + 1) % UInt32(words.count * 64)
        return place
    }

    private static func position(_ place: UInt32) -> (word: Int, bit: UInt64) {
        (Int(place / 64), 1 << UInt64(place % 64))
    }
}
