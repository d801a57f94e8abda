internal import CacheDisk
internal import CacheKey
import CacheValues
internal import ImageFormats

/// The order of eviction of this cache: its own index, without files.
package struct IndexPolicy: CachePolicy, ~Copyable {
    private var index = Index()
    private let capacity: Int64
    /// The time of the latest use. Each use is later than the one before it.
    private var latest = FileTime(nanoseconds: 0)

    package init(capacity: Int64) { self.capacity = capacity }

    package mutating func request(_ request: Request) -> Bool {
        let key = Self.key(request.object)
        let now = UnixTime(rawValue: 1_700_000_000 + request.second)
        latest = max(FileTime(now), latest.successor)
        if index.contains(key) {
            _ = index.touch(key, at: latest)
            return true
        }
        guard request.bytes <= capacity else { return false }
        while index.allocated + request.bytes > capacity {
            var position = VictimPosition()
            guard let victim = index.nextVictim(&position, unless: { _ in false }) else {
                return false
            }
            index.willEvict(victim)
            index.remove(victim)
        }
        index.insert(key, facts(request, now))
        return false
    }

    private func facts(_ request: Request, _ now: UnixTime) -> EntryFacts {
        EntryFacts(
            size: request.bytes, allocated: request.bytes, mediaType: .png, width: nil, height: nil,
            fetchedAt: now, lastUsedAt: latest, isPinned: false, inode: UInt64(request.object) + 1)
    }

    /// Keys are digests, so their bits are mixed. The finalizer of SplitMix64 (Steele and others, 2014)
    private static func key(_ object: Int) -> CacheKey {
        var generator = SplitMix(seed: UInt64(object))
        return CacheKey(high: generator.next() & ~0xF000 | 0x5000, low: UInt64(object))
    }
}
