internal import CacheKey

/// An index of entries nobody fetched, to measure what an entry takes.
package struct SyntheticIndex: ~Copyable {
    private var index = Index()

    package init(count: Int) {
        var noise = SystemRandomNumberGenerator()
        for number in 0..<count {
            // Keys are digests; anything less random would flatter or wrong the table.
            let key = CacheKey(high: noise.next() & ~0xF000 | 0x5000, low: noise.next())
            index.insert(key, Self.facts(number))
        }
    }

    private static func facts(_ number: Int) -> EntryFacts {
        let time = UnixTime(rawValue: 1_700_000_000 + UInt32(number))
        return EntryFacts(
            size: 22_000, allocated: 24_576, mediaType: .png, width: 85, height: 86,
            fetchedAt: time, freshUntil: time, lastUsedAt: FileTime(time), isPinned: false)
    }
}
