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

    /// Returns whether the prefetch was there.
    @discardableResult
    mutating func remove(_ key: CacheKey, _ origin: Origin) -> Bool {
        let left = prefetches.update(origin) { keys in
            keys.remove(key) == nil ? nil : keys.count
        }
        guard let left = left ?? nil else { return false }
        if left == 0 { prefetches[origin] = nil }
        return true
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
        var isPrefetch = true
        let received: Int64
        let id: FlightID

        static func < (left: Cost, right: Cost) -> Bool {
            (left.received, right.id.rawValue) < (right.received, left.id.rawValue)
        }
    }
}
