internal import CacheKey

/// Downloads under way that may be nothing but prefetches, by host: more than those that are.
struct Preemption: Sendable {
    private(set) var origins: [Origin: Set<CacheKey>] = [:]

    var isEmpty: Bool { origins.isEmpty }

    mutating func insert(_ key: CacheKey, _ origin: Origin) {
        origins.update(origin, default: []) { $0.insert(key) }
    }

    mutating func remove(_ key: CacheKey, _ origin: Origin) {
        let isLast = origins.update(origin) { $0.remove(key) != nil && $0.isEmpty }
        if isLast == true { origins[origin] = nil }
    }
}
