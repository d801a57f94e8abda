import Glibc

/// Whole seconds since 1970-01-01 00:00 UTC, as the attributes and the protocol write times.
///
/// Kept in 32 bits without a sign, which last until 2106.
public struct UnixTime: Hashable, Comparable, Sendable, RawRepresentable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// Clamps what does not fit: before 1970 is 1970, after 2106 is 2106.
    public init(clamping seconds: Int64) {
        self.init(rawValue: UInt32(clamping: seconds))
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.rawValue < right.rawValue
    }

    /// The time `seconds` later, or earlier where it is negative.
    public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
        let (sum, overflows) = Int64(time.rawValue).addingReportingOverflow(seconds)
        return UnixTime(clamping: overflows ? .max : sum)
    }

    /// Seconds from `right` to `left`.
    public static func - (left: UnixTime, right: UnixTime) -> Int64 {
        Int64(left.rawValue) - Int64(right.rawValue)
    }

    /// The wall clock. time(2).
    public static var now: UnixTime {
        UnixTime(clamping: Int64(time(nil)))
    }
}
