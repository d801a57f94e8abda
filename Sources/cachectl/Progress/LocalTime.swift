import Glibc

/// The current time in the forms that screens need.
struct LocalTime: Hashable {
    /// Counts from any fixed moment; animations depend on it.
    var elapsed: Duration
    var unixSecond: Int
    /// The offset of local time, in seconds east of Greenwich.
    var utcOffset: Int

    /// A time of day on the local clock, for example `14:05:09`.
    func clock(unixSecond: Int) -> String {
        let second = ((unixSecond + utcOffset) % 86_400 + 86_400) % 86_400
        return [second / 3600, second / 60 % 60, second % 60].map(Self.two).joined(separator: ":")
    }

    /// A duration: `0:12`, `61:02`, or `1:40 h` from 100 minutes on.
    static func span(seconds: Int) -> String {
        guard seconds < 6000 else { return "\(seconds / 3600):\(two(seconds / 60 % 60)) h" }
        return "\(seconds / 60):\(two(seconds % 60))"
    }

    private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension LocalTime {
    /// The current time. localtime_r(3).
    static func now(since start: ContinuousClock.Instant) -> LocalTime {
        var second = time(nil)
        var parts = tm()
        localtime_r(&second, &parts)
        return LocalTime(
            elapsed: start.duration(to: .now), unixSecond: second, utcOffset: parts.tm_gmtoff)
    }
}
