internal import CacheKey

/// Why the latest attempts failed, so that a question after them can say so. Until its `retryAt` a
/// failure is also the answer to those who want the image. Bounded: the oldest are forgotten first.
struct FailureMemory {
    static let capacity = 16_384

    private var failures: [CacheKey: (failure: Failure, url: CacheURL?)] = [:]
    private var order = Line<CacheKey>()

    subscript(key: CacheKey) -> Failure? { failures[key]?.failure }

    /// What could not be had, where a URL was asked for.
    func url(of key: CacheKey) -> CacheURL? { failures[key]?.url }

    /// The failure that is the answer without a new attempt. One that would be for longer than `longest` was
    /// remembered by a clock that was ahead.
    func answer(for key: CacheKey, now: UnixTime, longest: Duration) -> Failure? {
        guard let failure = self[key], let end = failure.retryAt, now < end,
            end - now <= longest.components.seconds
        else { return nil }
        return failure
    }

    mutating func record(_ failure: Failure, of key: CacheKey, _ url: CacheURL? = nil) {
        guard failures.updateValue((failure, url), forKey: key) == nil else { return }
        order.append(key)
        if failures.count > Self.capacity, let oldest = order.first { forget(oldest) }
    }

    /// Forgets all of a kind; of what they were.
    mutating func forgetAll(_ kind: Failure.Kind) -> [CacheKey] {
        let keys = failures.filter { $0.value.failure.kind == kind }.map(\.key)
        for key in keys { forget(key) }
        return keys
    }

    /// Forgets a failure; whether there was one.
    @discardableResult
    mutating func forget(_ key: CacheKey) -> Bool {
        guard failures.removeValue(forKey: key) != nil else { return false }
        order.remove(key)
        return true
    }
}
