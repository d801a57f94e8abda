/// A time in nanoseconds since 1970-01-01 00:00 UTC, the resolution of an inode. inode(7).
///
/// The order of several uses within one second survives in the files because of this resolution.
///
///     let lastUse = FileTime(nanoseconds: 1_790_000_000_123_456_789)
///     let seconds = lastUse.unixTime
public struct FileTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970-01-01 00:00 UTC.
    public let nanoseconds: Int64

    /// - Parameter nanoseconds: nanoseconds since 1970-01-01 00:00 UTC.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The first nanosecond of a second.
    package init(_ time: UnixTime) {
        self.init(nanoseconds: Int64(time.rawValue) * 1_000_000_000)
    }

    /// Nanoseconds that the current ``FileTime`` is behind the wall clock.
    ///
    /// The kernel stamps inodes with a clock that can be one tick behind, and a tick is 10 ms at 100 ticks
    /// a second.
    package static let clockLag: Int64 = 10_000_000

    /// The time in whole seconds, as the protocol writes times.
    public var unixTime: UnixTime { UnixTime(clamping: nanoseconds / 1_000_000_000) }

    /// The wall clock's time in whole seconds at the moment when this was the current ``FileTime``.
    ///
    /// Freshness is decided by the wall clock, so that every part of the cache decides it alike.
    package var wallTime: UnixTime {
        UnixTime(clamping: (nanoseconds + Self.clockLag) / 1_000_000_000)
    }

    /// The next later time.
    package var successor: FileTime { FileTime(nanoseconds: nanoseconds + 1) }

    /// Whether `left` is the earlier time.
    public static func < (left: FileTime, right: FileTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
