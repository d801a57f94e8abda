/// The share of the requests, and of the bytes requested, that a cache held.
package struct HitRatio: Sendable {
    package var requests: Double
    package var bytes: Double
}

extension Trace {
    /// Replays the requests. A request for the same object as the one before it is the opening of what was just
    /// fetched, which the cache sees and the ratio does not count.
    package func replay(_ policy: inout some CachePolicy & ~Copyable) -> HitRatio {
        var (hits, hitBytes, count, bytes): (Int64, Int64, Int64, Int64) = (0, 0, 0, 0)
        var last = -1
        for request in requests {
            let isHit = policy.request(request)
            defer { last = request.object }
            guard request.object != last else { continue }
            count += 1
            bytes += request.bytes
            if isHit {
                hits += 1
                hitBytes += request.bytes
            }
        }
        return HitRatio(
            requests: Double(hits) / Double(max(count, 1)),
            bytes: Double(hitBytes) / Double(max(bytes, 1)))
    }
}
