internal import CacheKey

/// Downloads under way that may be nothing but prefetches, by host: more than those that are.
struct Prefetches: Sendable {
    private(set) var origins: [Origin: Set<CacheKey>] = [:]

    var isEmpty: Bool { origins.isEmpty }

    mutating func insert(_ key: CacheKey, _ origin: Origin) {
        origins[origin, default: []].insert(key)
    }

    mutating func remove(_ key: CacheKey, _ origin: Origin) {
        guard origins[origin]?.remove(key) != nil, origins[origin]?.isEmpty == true else { return }
        origins[origin] = nil
    }
}
