internal import CacheKey

/// Prefetches that run, by host: the downloads that stop when something visible needs their slot. A shared
/// one may have become more urgent meanwhile, so each is asked for its cost before it stops.
struct Preemption: Sendable {
    private var prefetches: [Origin: Set<CacheKey>] = [:]

    var isEmpty: Bool { prefetches.isEmpty }

    mutating func insert(_ key: CacheKey, _ origin: Origin) {
        prefetches.update(origin, default: []) { $0.insert(key) }
    }

    mutating func remove(_ key: CacheKey, _ origin: Origin) {
        let isLast = prefetches.update(origin) { $0.remove(key) != nil && $0.isEmpty }
        if isLast == true { prefetches[origin] = nil }
    }

    /// Those that can stop.
    ///
    /// - Parameter cost: what stopping a download costs; `nil` for one that is more than a prefetch.
    func candidates(_ cost: (CacheKey) -> Cost?) -> [Candidate] {
        prefetches.flatMap { origin, keys in
            keys.compactMap { key in
                cost(key).map { Candidate(key: key, origin: origin, cost: $0) }
            }
        }
    }

    struct Candidate {
        let key: CacheKey
        let origin: Origin
        let cost: Cost
    }

    /// What stopping a download costs: the bytes it has received. Among equals the latest is cheapest.
    struct Cost: Comparable {
        let received: Int64
        let id: FlightID

        static func < (left: Cost, right: Cost) -> Bool {
            (left.received, right.id.rawValue) < (right.received, left.id.rawValue)
        }
    }
}
