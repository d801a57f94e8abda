/// Whether an origin sends too little in the time in which its download is not held back. libcurl's own
/// measure begins anew after each pause, so that who sends a few bytes between two of them would never be
/// found out; CURLOPT_LOW_SPEED_TIME(3) ends those from whom nothing comes.
struct Slowness {
    typealias Instant = ContinuousClock.Instant

    /// Bytes a second that are enough.
    static let leastRate = 1024

    private let span: Duration
    private let leastBytes: Int
    /// Of the span that runs, without pauses, and what came in it.
    private var elapsed = Duration.zero
    private var bytes = 0
    /// Since when it is not held back; `nil` while it is, and before anything came.
    private var runsSince: Instant?

    /// - Parameter seconds: after so many of them what came is compared with what had to.
    init(span seconds: Int) {
        span = .seconds(seconds)
        leastBytes = seconds * Self.leastRate
    }

    /// More has come than may be taken now.
    mutating func holdBack(now: Instant) {
        stop(now)
        runsSince = nil
    }

    /// So much was taken; whether it is too little for the time.
    mutating func take(_ count: Int, now: Instant) -> Bool {
        stop(now)
        runsSince = now
        bytes += count
        guard elapsed >= span else { return false }
        defer { (elapsed, bytes) = (.zero, 0) }
        return bytes < leastBytes
    }

    private mutating func stop(_ now: Instant) {
        if let runsSince { elapsed += runsSince.duration(to: now) }
    }
}
