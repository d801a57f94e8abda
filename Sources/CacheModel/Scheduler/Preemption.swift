internal import CacheKey

/// The running prefetches by host. They stop if a visible download needs their slot. A prefetch
/// that several callers share may have become more urgent, so its cost is asked for before it
/// stops.
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

    /// The prefetches that can stop.
    ///
    /// - Parameter cost: the cost of stopping a download. `nil` for a download that is more than a
    ///   prefetch.
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

    /// The cost of stopping a download: the bytes it has received. Of two equal costs, that of the
    /// later download is lower.
    struct Cost: Comparable {
        let received: Int64
        let id: FlightID

        static func < (left: Cost, right: Cost) -> Bool {
            (left.received, right.id.rawValue) < (right.received, left.id.rawValue)
        }
    }
}
