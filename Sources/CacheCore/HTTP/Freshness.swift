/// Until when a response may be used without asking again (RFC 9111 §4.2).
struct Freshness {
    /// Lifetime where the origin says nothing at all.
    static let unknownLifetime: Int64 = 3600
    /// Bounds of a lifetime guessed from the last change: one minute to seven days.
    static let heuristicBounds: ClosedRange<Int64> = 60...(7 * 86400)

    /// The dates of the response, parsed; `nil` where absent or unreadable.
    var date: UnixTime?
    var expires: UnixTime?
    /// `Expires` was there, readable or not: unreadable means already expired (RFC 9111 §5.3).
    var hasExpires = false
    var lastModified: UnixTime?
    var maxAge: Int64?
    /// Seconds the response spent in other caches already.
    var age: Int64 = 0

    /// The end of the lifetime of a response received `now`.
    func freshUntil(now: UnixTime) -> UnixTime {
        now + (lifetime(now: now) - max(age, 0))
    }

    /// Seconds from the response's date: `max-age`, else `Expires`, else a tenth of the time since the
    /// last change.
    private func lifetime(now: UnixTime) -> Int64 {
        let date = Int64((date ?? now).rawValue)
        if let maxAge { return maxAge }
        if hasExpires { return max(Int64(expires?.rawValue ?? 0) - date, 0) }
        guard let lastModified else { return Self.unknownLifetime }
        let tenth = (date - Int64(lastModified.rawValue)) / 10
        return min(max(tenth, Self.heuristicBounds.lowerBound), Self.heuristicBounds.upperBound)
    }
}
