import CacheCore
import CacheKey
import CacheValues

/// Images of a stream with `follow` that failed for a reason that passes, and when each is fetched again.
struct FollowedFailures {
    private var times: [CacheKey: UnixTime] = [:]

    /// The earliest time; `nil` if there is none.
    var next: UnixTime? { times.values.min() }

    mutating func failed(_ key: CacheKey, _ failure: Failure) {
        guard failure.isTransient, let time = failure.retryAt else { return }
        times[key] = time
    }

    /// Takes the images whose time has come.
    mutating func takeDue(now: UnixTime) -> [CacheKey] {
        let due = times.filter { $0.value <= now }.map(\.key)
        for key in due { times[key] = nil }
        return due
    }
}
