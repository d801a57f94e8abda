/// A time in whole seconds since 1970-01-01 00:00 UTC, the unit of the attributes and the protocol.
///
///     let fetchedAt = UnixTime(rawValue: 1_790_000_000)
///     let freshUntil = fetchedAt + 3600
///     let secondsLeft = freshUntil - fetchedAt
///
/// Stored in 32 bits without a sign, which last until 2106.
public struct UnixTime: Hashable, Comparable, Sendable, RawRepresentable {
    /// Seconds since 1970-01-01 00:00 UTC.
    public let rawValue: UInt32

    /// - Parameter rawValue: seconds since 1970-01-01 00:00 UTC.
    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Creates the nearest time that 32 bits can hold.
    ///
    /// - Parameter seconds: seconds since 1970-01-01 00:00 UTC. Earlier times become 1970, times after
    ///   2106 become 2106.
    public init(clamping seconds: Int64) {
        self.init(rawValue: UInt32(clamping: seconds))
    }

    /// Whether `left` is the earlier time.
    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The time `seconds` later, or earlier if `seconds` is negative. The result is clamped.
    public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
        let (sum, overflows) = Int64(time.rawValue).addingReportingOverflow(seconds)
        return UnixTime(clamping: overflows ? .max : sum)
    }

    /// Seconds from `right` to `left`.
    public static func - (left: UnixTime, right: UnixTime) -> Int64 {
        Int64(left.rawValue) - Int64(right.rawValue)
    }
}
