import Glibc

/// Nanoseconds since 1970-01-01 00:00 UTC, as fine as an inode keeps its times, so that the order of
/// many uses within one second survives in the files. inode(7).
public struct FileTime: Hashable, Comparable, Sendable {
    public let nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Anybody may give a file any time: what lies outside of the years 1834 to 2106 is as if at its edge.
    init(_ time: timespec) {
        let seconds = min(max(time.tv_sec, -Self.furthest), Self.furthest)
        self.init(nanoseconds: Int64(seconds) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// When a file was used. What is to come in a minute or later, as a clock that was ahead has left it, is now.
    init(lastUse time: timespec) {
        let (time, now) = (FileTime(time), FileTime.now)
        self = time.nanoseconds - now.nanoseconds < 60_000_000_000 ? time : now
    }

    init(_ time: UnixTime) {
        self.init(nanoseconds: Int64(time.rawValue) * 1_000_000_000)
    }

    /// Seconds; half of what 64 bits of nanoseconds hold, so that differences of times are numbers too.
    private static let furthest = 1 << 32

    /// How far the clock the kernel stamps inodes with may be behind: a tick, at 100 ticks a second.
    private static let tick: Int64 = 10_000_000

    /// The wall clock, a tick behind. A time of use has to lie before the ctime of the call that sets it:
    /// else the kernel takes the file for read since it changed, and under `relatime` notes nobody's
    /// reading for a day. clock_gettime(2), mount(8).
    public static var now: FileTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return FileTime(nanoseconds: FileTime(time).nanoseconds - tick)
    }

    /// Whole seconds, as the protocol writes times.
    public var unixTime: UnixTime { UnixTime(clamping: nanoseconds / 1_000_000_000) }

    /// What the wall clock said when this was ``now``, in whole seconds: what is stale by it is stale here.
    var wallTime: UnixTime { UnixTime(clamping: (nanoseconds + Self.tick) / 1_000_000_000) }

    /// As utimensat(2) takes it.
    var specification: timespec {
        let seconds = nanoseconds / 1_000_000_000
        return timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    /// The next later time.
    var successor: FileTime { FileTime(nanoseconds: nanoseconds + 1) }

    public static func < (left: FileTime, right: FileTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }
}
